import type { FastifyInstance } from 'fastify';
import { accountRoutes } from './account/routes.ts';
import { depositRoutes } from './deposits/routes.ts';
import type { ApiDeps } from './deps.ts';
import { documentApi } from './docs/openapi.ts';
import { eventRoutes } from './events/routes.ts';
import { authorize } from './http/authorize.ts';
import { parseBodies } from './http/body.ts';
import { handleErrors } from './http/error-handler.ts';
import { createFastify } from './http/fastify.ts';
import { healthRoutes } from './http/health.ts';
import { createRequestMetrics, measure } from './http/metrics.ts';
import { createShed } from './http/shed.ts';
import { validatorCompiler } from './http/validation.ts';
import { webhookKeyRoute } from './http/webhook-keys.ts';
import { paymentRoutes } from './payments/routes.ts';
import { rateRoutes } from './rates/routes.ts';
import { ErrorBody, Payment, ValidationErrorBody } from './shared-schemas.ts';
import { statementRoutes } from './statement/routes.ts';
import { statusRoutes } from './status/routes.ts';
import { telegramWebhookRoute } from './telegram/webhook-route.ts';
import { testRefundRoute } from './test-mode/refund-route.ts';
import { testClockRoutes, testDepositRoutes } from './test-mode/routes.ts';

/**
 * The HTTP entry point: the partner API and its documentation, health checks, the Telegram webhook, the console and
 * the portal when they share this port.
 */
export async function createServer(deps: ApiDeps): Promise<FastifyInstance> {
  const count = createRequestMetrics(deps);
  const server = createFastify(deps, createShed(deps, count));
  server.decorate('supportUrl', deps.supportUrl);
  server.setValidatorCompiler(validatorCompiler);
  for (const schema of [Payment, ErrorBody, ValidationErrorBody]) server.addSchema(schema);
  handleErrors(server, deps.log);
  parseBodies(server);

  const { servesPartners = true } = deps;
  // Routes are documented as they are registered, so this comes before them.
  if (servesPartners) await documentApi(server, deps);
  measure(server, count);
  healthRoutes(server, deps);
  if (deps.telegramReceiver) await telegramWebhookRoute(server, deps.telegramReceiver);
  if (deps.console) await deps.console(server);
  if (servesPartners) {
    webhookKeyRoute(server, deps);
    statusRoutes(server, deps);
  }
  if (deps.portal) await deps.portal(server);
  if (servesPartners) await server.register(async scope => partnerRoutes(scope, deps));
  return server;
}

/** Everything under `/v1`: only with a partner's key. */
function partnerRoutes(scope: FastifyInstance, deps: ApiDeps): void {
  authorize(scope, deps);
  accountRoutes(scope, deps);
  rateRoutes(scope, deps);
  paymentRoutes(scope, deps);
  eventRoutes(scope, deps);
  depositRoutes(scope, deps);
  statementRoutes(scope, deps);
  testClockRoutes(scope, deps);
  testDepositRoutes(scope, deps);
  testRefundRoute(scope, deps);
}
