import type { FastifyInstance, FastifyRequest } from 'fastify';
import { smallBody } from '../api/index.ts';
import { findSession, type Permission, roleHasPermission, type SignedIn } from '../operators/index.ts';
import { isCsrfToken, isFromOurPage, type Refused, refuse, sendRefusal, unsearchable } from '../web/index.ts';
import { readSessionToken } from './cookie.ts';
import type { ConsoleDeps } from './deps.ts';

/**
 * Guards every route of the scope; each route declares what it needs. A request is checked in this order: a change must
 * come from our origin, there must be a session, a change must carry the CSRF token of that session, and the operator's
 * role must have the permission.
 */
export function guard(scope: FastifyInstance, deps: ConsoleDeps): void {
  scope.addHook('onRoute', route => {
    if (!route.config?.needs) throw new Error(`${route.method} ${route.url} does not declare what it needs`);
    if (route.config.needs === 'nothing') {
      route.bodyLimit = smallBody.maxBytes;
      route.config.maxBodyDepth = smallBody.maxDepth;
    }
    // The console is not part of the partner API's OpenAPI document.
    route.schema = { ...route.schema, hide: true };
  });
  scope.addHook('onRequest', async (request, reply) => {
    const { needs } = request.routeOptions.config;
    const isChange = request.method !== 'GET';
    if (isChange && !isFromOurPage(deps, request)) return sendRefusal(request, reply, foreign);
    if (needs === 'nothing') return undefined;

    const found = await findSignedIn(deps, request);
    if (!found) return sendRefusal(request, reply, signedOut);
    const { token, operator } = found;
    const sent = request.headers['x-csrf-token'];
    if (isChange && !isCsrfToken(deps.keyring, 'console', `${sent}`, token))
      return sendRefusal(request, reply, foreign);
    if (!isAllowed(request, operator)) return sendRefusal(request, reply, refuseRole(operator));
    if (hasNul(request)) return sendRefusal(request, reply, unsearchable);
    request.operator = operator;
    return undefined;
  });

  // The body may have taken its time.
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method === 'GET' || request.routeOptions.config.needs === 'nothing') return undefined;
    const refusal = await whyNotAllowed(deps, request);
    return refusal && sendRefusal(request, reply, refusal);
  });
}

/** Decided again after something slow: who was disabled meanwhile changes nothing. */
export async function whyNotAllowed(
  deps: ConsoleDeps,
  request: FastifyRequest,
): Promise<Refused | undefined> {
  const { operator } = (await findSignedIn(deps, request)) ?? {};
  if (!operator) return signedOut;
  if (!isAllowed(request, operator)) return refuseRole(operator);
  request.operator = operator;
  return undefined;
}

const isAllowed = ({ routeOptions: { config } }: FastifyRequest, { role }: SignedIn) =>
  roleHasPermission(role, config.needs as Permission);

const signedOut = refuse(401, 'signed_out', 'Sign in to continue.');

const refuseRole = ({ role }: SignedIn) => refuse(403, 'forbidden', `The role ${role} does not allow this.`);

/** PostgreSQL stores no NUL, so a query for one would fail. Bodies are checked where they are parsed. */
const hasNul = ({ url }: FastifyRequest) => url.includes('%00');

/** The operator who is signed in, and the session's token. Background requests of a page do not prolong the session. */
export async function findSignedIn(deps: ConsoleDeps, request: FastifyRequest) {
  const token = readSessionToken(request);
  if (token === undefined) return undefined;
  const isUserActivity = request.headers['x-background'] === undefined;
  const operator = await findSession(deps.db, deps.clock, token, { isUserActivity });
  return operator && { token, operator };
}

const foreign = refuse(403, 'csrf', 'The request did not come from a page of this console: reload the page.');
