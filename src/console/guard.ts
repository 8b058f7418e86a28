import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deriveKey } from '../db/secret-key.ts';
import { findSession, roleHasPermission } from '../operators/index.ts';
import { readSessionToken } from './cookie.ts';
import type { ConsoleDeps } from './deps.ts';
import { refuse } from './replies.ts';

/** Known only to pages of ours: it follows from the session's token, which they never see. */
export const csrfTokenOf = (secretKey: string, sessionToken: string) =>
  createHmac('sha256', deriveKey(secretKey, 'console csrf')).update(sessionToken).digest('base64url');

/** Every route of this scope says what it needs, and nobody passes who has not got it. */
export function guard(scope: FastifyInstance, deps: ConsoleDeps): void {
  scope.addHook('onRoute', route => {
    if (!route.config?.needs) throw new Error(`${route.method} ${route.url} does not say what it needs`);
    // The reference of the partner API is about other things.
    route.schema = { ...route.schema, hide: true };
  });
  scope.addHook('onRequest', async (request, reply) => {
    const { needs } = request.routeOptions.config;
    const isChange = request.method !== 'GET';
    if (isChange && !isFromOurPage(deps, request)) return refuseForeign(request, reply);
    if (needs === 'nothing') return undefined;

    const found = await findVisitor(deps, request);
    if (!found) return refuse(request, reply, 401, 'signed_out', 'Sign in to go on.');
    const { token, operator } = found;
    const sent = request.headers['x-csrf-token'];
    if (isChange && !isSame(`${sent}`, csrfTokenOf(deps.secretKey, token)))
      return refuseForeign(request, reply);
    if (!roleHasPermission(operator.role, needs!))
      return refuse(request, reply, 403, 'forbidden', `The role ${operator.role} may not do this.`);
    // No text of ours has it, and PostgreSQL takes none that does; bodies are looked through where they are read.
    if (/%00/.test(request.url))
      return refuse(
        request,
        reply,
        422,
        'invalid_request',
        'This cannot be looked for: check what was typed.',
      );
    request.operator = operator;
    return undefined;
  });
}

/** Who has a session, with its token; what a page asks by itself, without anybody before it, does not prolong it. */
export async function findVisitor(deps: ConsoleDeps, request: FastifyRequest) {
  const token = readSessionToken(request);
  if (token === undefined) return undefined;
  const isUserActivity = request.headers['x-background'] === undefined;
  const operator = await findSession(deps.db, deps.clock, token, { isUserActivity });
  return operator && { token, operator };
}

const refuseForeign = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 403, 'csrf', 'The request did not come from a page of this console: load it again.');

/** A browser says where a request comes from, and no page can make it say something else. */
function isFromOurPage({ publicUrl }: ConsoleDeps, { headers, host }: FastifyRequest): boolean {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  if (!origin || !URL.canParse(origin)) return false;
  return new URL(origin).host === host || (publicUrl !== undefined && new URL(publicUrl).origin === origin);
}

function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
