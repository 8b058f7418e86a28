import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from '../db/pool.ts';
import { operatorRoutes } from './access/operator-routes.ts';
import { sessionRoutes } from './access/session-routes.ts';
import { accessRoutes } from './access/sign-in-routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { controlRoutes } from './controls/routes.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { depositRoutes } from './deposits/routes.ts';
import type { ConsoleDeps } from './deps.ts';
import { guard } from './guard.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { overviewRoutes } from './overview/routes.ts';
import { connectionRoutes } from './partners/connection-routes.ts';
import { partnerRoutes } from './partners/routes.ts';
import { reviewRoutes } from './payments/review-routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { rateRoutes } from './rates/routes.ts';
import { refuse } from './replies.ts';
import { requestLogRoutes } from './request-log/routes.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { settingsRoutes } from './settings/routes.ts';
import { builtPages, staticFileRoutes } from './static-files.ts';

export type { ConsoleDeps } from './deps.ts';

export type Console = (server: FastifyInstance) => Promise<void>;

/** The routes of all pages. */
const routes: ((scope: FastifyInstance, deps: ConsoleDeps) => void)[] = [
  accessRoutes,
  operatorRoutes,
  paymentRoutes,
  reviewRoutes,
  sessionRoutes,
  auditRoutes,
  connectionRoutes,
  controlRoutes,
  deliveryRoutes,
  depositRoutes,
  ledgerRoutes,
  overviewRoutes,
  partnerRoutes,
  rateRoutes,
  requestLogRoutes,
  settingsRoutes,
];

const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 404, 'not_found', 'Page not found.');

/** The operators' console: its pages under `/console`, and their API under `/console/api`. */
export function createConsole(deps: ConsoleDeps): Console {
  return async server => {
    await server.register(
      async scope => {
        guard(scope, deps);
        scope.addHook('onSend', async (_request, reply) => {
          setSecurityHeaders(reply);
          reply.header('Cache-Control', 'no-store');
        });
        scope.setErrorHandler((error, request, reply) => {
          if (!isDatabaseUnavailable(error)) throw error;
          deps.log.error({ err: error, request_id: request.id }, 'a request of the console failed');
          return refuse(request, reply, 503, 'unavailable', 'The database is not responding: try later.');
        });
        for (const register of routes) register(scope, deps);
        // Before the body is read, as for unknown paths outside of the console.
        scope.all('/*', { config: { needs: 'nothing' }, onRequest: refuseUnknown }, refuseUnknown);
      },
      { prefix: '/console/api' },
    );
    await server.register(async scope => staticFileRoutes(scope, deps.pagesFolder ?? builtPages), {
      prefix: '/console',
    });
  };
}
