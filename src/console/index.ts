import type { FastifyInstance } from 'fastify';
import { createApp, type Route } from '../web/index.ts';
import { operatorRoutes } from './access/operator-routes.ts';
import { sessionRoutes } from './access/session-routes.ts';
import { accessRoutes } from './access/sign-in-routes.ts';
import { alarmRoutes } from './alarms/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { controlRoutes } from './controls/routes.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { depositRoutes } from './deposits/routes.ts';
import type { ConsoleDeps } from './deps.ts';
import { guard } from './guard.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { connectionRoutes } from './partners/connection-routes.ts';
import { contactRoutes } from './partners/contact-routes.ts';
import { endpointRoutes } from './partners/endpoint-routes.ts';
import { partnerRoutes } from './partners/routes.ts';
import { reviewRoutes } from './payments/review-routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { rateRoutes } from './rates/routes.ts';
import { requestLogRoute } from './request-log/routes.ts';
import { settingsRoutes } from './settings/routes.ts';

export type { ConsoleDeps } from './deps.ts';

export type Console = (server: FastifyInstance) => Promise<void>;

/** The routes of all pages. */
const routes: Route<ConsoleDeps>[] = [
  ...accessRoutes,
  ...operatorRoutes,
  ...paymentRoutes,
  ...reviewRoutes,
  ...sessionRoutes,
  ...alarmRoutes,
  ...auditRoutes,
  ...connectionRoutes,
  ...contactRoutes,
  ...controlRoutes,
  ...deliveryRoutes,
  ...depositRoutes,
  ...endpointRoutes,
  ...ledgerRoutes,
  ...overviewRoutes,
  ...partnerRoutes,
  ...rateRoutes,
  requestLogRoute,
  ...settingsRoutes,
];

/** The operators' console: its pages under `/console`, and their API under `/console/api`. */
export const createConsole = (deps: ConsoleDeps): Console =>
  createApp('console', deps, { guard, routes, open: { needs: 'nothing' } });
