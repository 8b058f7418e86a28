import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { sendError } from './errors.ts';
import { createAnswersUnderWay } from './under-way.ts';

/** The scheme is case-insensitive (RFC 9110, 11.1), the key is not. */
const bearer = /^bearer ([!-~]+)$/i;

/** Besides payments, which have limits of their own, a partner may have this many seconds of its rate under way. */
const secondsUnderWay = 2;

/**
 * Checks the caller before the body is read: key, IP address, suspension and scope, then the rate limits. A key without the
 * scope takes nothing of the rate that the partner's other keys need.
 */
export function authorize({ authenticator, rateLimiter, heartbeat, admission }: ApiDeps) {
  const underWay = createAnswersUnderWay();

  async function check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { kind = 'other', scope = kind === 'create' ? 'pay' : 'read' } = request.routeOptions.config;
    const key = bearer.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const authentication = await authenticator.authenticate({ key, address: request.ip });
    if (authentication.outcome !== 'ok') {
      request.keyHolder = authentication.holder;
      return sendError(request, reply, authentication.outcome);
    }
    request.keyHolder = authentication;
    request.caller = authentication;
    const { rights } = authentication;
    if (rights && scope !== 'any' && !rights.scopes.includes(scope))
      return sendError(request, reply, 'insufficient_scope');
    const retryAfterSec = await rateLimiter.take(authentication, kind);
    if (retryAfterSec !== undefined)
      return sendError(request, reply.header('Retry-After', retryAfterSec), 'rate_limited');
    request.isAdmitted = true;
    const { partnerId, limits } = authentication;
    if (kind === 'create' || underWay.begin(partnerId, secondsUnderWay * limits.otherRps, reply))
      return undefined;
    return sendError(request, reply.header('Retry-After', 1), 'rate_limited');
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { kind = 'other' } = request.routeOptions.config;
    // While the database does not answer nothing can be checked, and while it does not commit nothing can be paid.
    const canServe = kind === 'create' ? heartbeat.canCommit() : heartbeat.isDatabaseAnswering();
    if (!canServe) return sendError(request, reply, 'gateway_unavailable');
    if (kind !== 'create') return check(request, reply);
    const endCheck = admission.startCheck();
    if (!endCheck) return sendError(request, reply.header('Retry-After', 1), 'gateway_busy');
    return check(request, reply).finally(endCheck);
  };
}
