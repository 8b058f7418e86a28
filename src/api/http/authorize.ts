import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { sendError } from './errors.ts';

/** The scheme is case-insensitive (RFC 9110, 11.1), the key is not. */
const bearer = /^bearer ([!-~]+)$/i;

/** Checks the caller before the body is read: key, IP address and suspension, then the rate limits. */
export function authorize({ authenticator, rateLimiter, heartbeat }: ApiDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    // While the database does not answer nothing can be checked, and the request would hang.
    if (!heartbeat.isDatabaseAnswering()) return sendError(request, reply, 'gateway_unavailable');
    const key = bearer.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const authentication = await authenticator.authenticate({ key, address: request.ip });
    if (authentication.outcome !== 'ok') return sendError(request, reply, authentication.outcome);
    request.caller = authentication;
    const retryAfterSec = await rateLimiter.take(authentication, request.routeOptions.config.kind ?? 'other');
    if (retryAfterSec === undefined) return undefined;
    return sendError(request, reply.header('Retry-After', retryAfterSec), 'rate_limited');
  };
}
