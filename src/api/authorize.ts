import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from './deps.ts';
import { sendError } from './errors.ts';

const bearer = /^Bearer ([!-~]+)$/;

/** Who may call, before anything of the request is read: key, address and suspension, then the rate limits. */
export function authorize({ authenticator, rateLimiter, admission, presence }: ApiDeps) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    // With a database that keeps silent nothing can be checked, and whoever asked it would hang.
    if (!presence.isDatabaseAnswering()) return sendError(request, reply, 'gateway_unavailable');
    const key = bearer.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const authentication = await authenticator.authenticate({ key, address: request.ip });
    if (authentication.outcome !== 'ok') return sendError(request, reply, authentication.outcome);
    request.caller = authentication;
    const kind = request.routeOptions.config.kind ?? 'other';
    if (kind === 'create') {
      if (admission.isFull()) return sendError(request, reply.header('Retry-After', 1), 'gateway_busy');
      const leave = admission.enter();
      request.caller.onDebited = leave;
      reply.raw.once('close', leave);
    }
    const retryAfterSec = await rateLimiter.take(authentication, kind);
    if (retryAfterSec === undefined) return undefined;
    return sendError(request, reply.header('Retry-After', retryAfterSec), 'rate_limited');
  };
}
