import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Id } from '../../base/ids.ts';
import { networkOf } from '../../operators/index.ts';
import type { RequestLog } from '../../request-log/index.ts';

/** Health checks, pages and the updates of Telegram are not logged. */
const isOfPartner = (routeOrUrl: string) => routeOrUrl.startsWith('/v1/');

/** It runs for every request, so it only keeps what it has at hand. */
export function logRequest(log: RequestLog, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions.url;
  if (!isOfPartner(route ?? request.url)) return;
  const { payment_id: asked } = (request.params ?? {}) as { payment_id?: string };
  const { statusCode: status } = reply;
  log.record({
    requestId: request.id as Id<'req'>,
    keyHolder: request.keyHolder,
    isAdmitted: request.isAdmitted === true,
    network: status >= 500 ? networkOf(request.ip) : undefined,
    method: request.method,
    route,
    url: route === undefined ? request.url : undefined,
    paymentId: request.paymentId ?? asked,
    status,
    errorCode: request.errorCode,
    durationMs: reply.elapsedTime,
  });
}
