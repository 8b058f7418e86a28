import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '../deps.ts';
import { sendError } from './errors.ts';
import { createAnswersUnderWay } from './under-way.ts';

/** The scheme is case-insensitive (RFC 9110, 11.1), the key is not. */
const bearer = /^bearer ([!-~]+)$/i;

/** Besides payments, which have limits of their own, a partner may have this many seconds of its rate under way. */
const secondsUnderWay = 2;

/**
 * Checks the caller before the body is read: key, IP address, suspension and scope, then the rate limits. A key without the
 * scope takes nothing of the rate that the partner's other keys need. The caller itself is checked again when the body has
 * arrived, since the sender decides how long that takes: from the cache of keys, so without a statement unless the cached
 * key is too old by then.
 */
export function authorize(scope: FastifyInstance, deps: ApiDeps): void {
  scope.addHook('onRequest', authorizeHeaders(deps));
  // Before validation: whose key has ended learns nothing about the body either. Of GET no body is read.
  scope.addHook('preValidation', async (request, reply) =>
    request.method === 'GET' || (await isAllowed(deps, request, reply)) ? undefined : reply,
  );
}

/** Sets the caller. If false, the request is answered. */
async function isAllowed(
  { authenticator }: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const { kind = 'other', scope = kind === 'create' ? 'pay' : 'read' } = request.routeOptions.config;
  const key = bearer.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const authentication = await authenticator.authenticate({ key, address: request.ip });
  if (authentication.outcome !== 'ok') {
    request.keyHolder = authentication.holder;
    sendError(request, reply, authentication.outcome);
    return false;
  }
  request.keyHolder = authentication;
  request.caller = authentication;
  const { rights } = authentication;
  const isInScope = !rights || scope === 'any' || rights.scopes.includes(scope);
  if (!isInScope) sendError(request, reply, 'insufficient_scope');
  return isInScope;
}

function authorizeHeaders(deps: ApiDeps) {
  const { rateLimiter, heartbeat, admission } = deps;
  const underWay = createAnswersUnderWay();

  async function check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if (!(await isAllowed(deps, request, reply))) return reply;
    const { caller } = request;
    const { kind = 'other' } = request.routeOptions.config;
    const retryAfterSec = await rateLimiter.take(caller, kind);
    if (retryAfterSec !== undefined)
      return sendError(request, reply.header('Retry-After', retryAfterSec), 'rate_limited');
    request.isAdmitted = true;
    const { partnerId, limits } = caller;
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
    return check(request, reply).finally(admission.startCheck());
  };
}
