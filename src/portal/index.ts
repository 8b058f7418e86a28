import type { FastifyInstance } from 'fastify';
import { createFairShare } from '../base/fair-share.ts';
import { withCircuitBreaker } from '../db/postgres/index.ts';
import { createApp, type Route } from '../web/index.ts';
import { newPartnerRoutes } from './access/new-partner-routes.ts';
import { accessRoutes } from './access/routes.ts';
import { byHandRoutes } from './by-hand/routes.ts';
import type { PortalDeps, RouteDeps } from './deps.ts';
import { guard } from './guard.ts';
import { keyRoutes } from './keys/routes.ts';
import { reportRoutes } from './money/report-routes.ts';
import { moneyRoutes } from './money/routes.ts';
import { overviewRoute } from './overview/routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { photoRoute } from './qr/photo-route.ts';
import { qrRoute } from './qr/routes.ts';
import { rateRoutes } from './rate/routes.ts';
import { requestLogRoutes } from './request-log/routes.ts';
import { monthlyReportRoutes } from './settings/monthly-report-routes.ts';
import { settingsRoutes } from './settings/routes.ts';
import { teamRoutes } from './team/routes.ts';
import { deliveryRoutes } from './webhook/delivery-routes.ts';
import { webhookRoutes } from './webhook/routes.ts';

export type { PortalDeps } from './deps.ts';

/** The routes of all pages. */
const routes: Route<RouteDeps>[] = [
  ...accessRoutes,
  ...newPartnerRoutes,
  overviewRoute,
  ...paymentRoutes,
  ...keyRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...moneyRoutes,
  ...reportRoutes,
  ...rateRoutes,
  qrRoute,
  photoRoute,
  ...byHandRoutes,
  ...requestLogRoutes,
  ...teamRoutes,
  ...monthlyReportRoutes,
  ...settingsRoutes,
];

/** It takes one of the two connections that it shares with the bot. The other is for sessions, changes and conversations. */
const places = 1;
const maxPlaceWaitMs = 5_000;

function routeDepsOf(deps: PortalDeps): RouteDeps {
  const db = withCircuitBreaker(deps.pool, deps.heartbeat.isDatabaseAnswering);
  const share = createFairShare({ clock: deps.clock, places, placesPerOwner: places });
  return {
    ...deps,
    db,
    readsOf: partnerId => ({
      query: statement => share.run(partnerId, () => db.query(statement), maxPlaceWaitMs),
    }),
  };
}

/** The portal of partners: its pages under `/portal`, and their API under `/portal/api`. */
export const createPortal = (deps: PortalDeps): ((server: FastifyInstance) => Promise<void>) =>
  createApp('portal', routeDepsOf(deps), { guard, routes, open: { allows: 'everybody' } });
