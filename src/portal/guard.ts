import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAnswersUnderWay, smallBody } from '../api/index.ts';
import { parseId } from '../base/ids.ts';
import { findPortalSession, listMemberships, type MemberRole, roleIncludes } from '../partners/index.ts';
import { isCsrfToken, isFromOurPage, refuse, unsearchable } from '../web/index.ts';
import { readSessionToken } from './cookie.ts';
import type { RouteDeps } from './deps.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Of one person: a page sends five requests when it is opened, and one every few seconds. */
const requestRate = { perSec: 10, burst: 60 };
/** Of one partner, also while a file is being sent. */
const maxUnderWay = 8;

export const prefix = '/portal/api';
/** Routes for members are below this path, and no others: the guard reads the partner from it. */
const partnerPath = `${prefix}/partners/:partner_id`;

/**
 * Guards every route of the scope; each route declares whom it allows. A request is checked in this order: a change must
 * come from our origin, there must be a session, a change must carry the CSRF token of that session, the person is within
 * the rate, is a member of the partner in the path now, and has the role.
 */
export function guard(scope: FastifyInstance, deps: RouteDeps): void {
  const takeToken = createTokenBuckets(deps.clock, requestRate);
  const underWay = createAnswersUnderWay();
  scope.addHook('onRoute', route => {
    const { allows } = route.config ?? {};
    if (!allows) throw new Error(`${route.method} ${route.url} does not declare whom it allows`);
    const isForMembers = allows !== 'person' && allows !== 'everybody';
    const isBelow = route.url === partnerPath || route.url.startsWith(`${partnerPath}/`);
    if (isForMembers !== isBelow)
      throw new Error(`${route.method} ${route.url}: routes for members are those below ${partnerPath}`);
    if (allows === 'everybody') {
      route.bodyLimit = smallBody.maxBytes;
      route.config!.maxBodyDepth = smallBody.maxDepth;
    }
    // The portal is not part of the partner API's OpenAPI document.
    route.schema = { ...route.schema, hide: true };
  });

  scope.addHook('onRequest', async (request, reply) => {
    const { allows } = request.routeOptions.config;
    const isChange = request.method !== 'GET';
    if (isChange && !isFromOurPage(deps, request)) return refuseCsrf(request, reply);
    if (allows === 'everybody') return undefined;

    const found = await findSignedIn(deps, request);
    if (!found) return refuseSignedOut(request, reply);
    const { token, person } = found;
    const sent = request.headers['x-csrf-token'];
    if (isChange && !isCsrfToken(deps.keyring, 'portal', `${sent}`, token)) return refuseCsrf(request, reply);
    const retryAfterSec = takeToken(`${person.userId}`);
    if (retryAfterSec !== undefined) return refuseThrottled(request, reply, retryAfterSec);
    if (hasNul(request)) return refuse(request, reply, 422, 'invalid_request', unsearchable);
    request.person = person;
    if (allows === 'person') return undefined;

    const member = await findMember(deps, request);
    if (!member) return refuseOutsider(request, reply);
    if (!roleIncludes(member.role, allows!)) return refuseRole(request, reply, allows!);
    if (!underWay.begin(member.partner.partnerId, maxUnderWay, reply))
      return refuseThrottled(request, reply, 1);
    request.member = member;
    return undefined;
  });

  // The body may have taken its time: who was removed meanwhile changes nothing.
  scope.addHook('preHandler', async (request, reply) => {
    const isChange = request.method !== 'GET' && request.routeOptions.config.allows !== 'everybody';
    return !isChange || (await mayStillAct(deps, request, reply)) ? undefined : reply;
  });
}

/** Whether the session, the membership and its role are still there; otherwise the request is answered. */
export async function mayStillAct(
  deps: RouteDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  const refusal = await findRefusal(deps, request);
  refusal?.(request, reply);
  return refusal === undefined;
}

type Refuse = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;

async function findRefusal(deps: RouteDeps, request: FastifyRequest): Promise<Refuse | undefined> {
  const { allows } = request.routeOptions.config;
  if (!(await findSignedIn(deps, request))) return refuseSignedOut;
  if (allows === 'person') return undefined;
  const needed = allows as MemberRole;
  const member = await findMember(deps, request);
  if (!member) return refuseOutsider;
  request.member = member;
  return roleIncludes(member.role, needed) ? undefined : (...to) => refuseRole(...to, needed);
}

const refuseSignedOut = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 401, 'signed_out', 'Sign in to continue.');

const refuseOutsider = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 404, 'no_partner', 'You are not in the team of this partner.');

/** Also for what depends on more than the route: live keys are for owners. */
export const refuseRole = (request: FastifyRequest, reply: FastifyReply, needed: MemberRole) =>
  refuse(request, reply, 403, 'forbidden', `This needs the role ${needed}.`);

export function refuseThrottled(
  request: FastifyRequest,
  reply: FastifyReply,
  retryAfterSec: number,
): FastifyReply {
  reply.header('Retry-After', retryAfterSec);
  return refuse(request, reply, 429, 'throttled', 'Too many requests: try again later.');
}

/** PostgreSQL stores no NUL, so a query for one would fail. Bodies are checked where they are parsed. */
const hasNul = ({ url }: FastifyRequest) => url.includes('%00');

/** The person who is signed in, and the session's token. Background requests of a page do not prolong the session. */
export async function findSignedIn({ db, clock }: RouteDeps, request: FastifyRequest) {
  const token = readSessionToken(request);
  if (token === undefined) return undefined;
  const isUserActivity = request.headers['x-background'] === undefined;
  const person = await findPortalSession(db, clock, token, { isUserActivity });
  return person && { token, person };
}

/** Read for every request, so that a removal or another role takes effect at once. */
async function findMember({ db }: RouteDeps, { params, person }: FastifyRequest) {
  const partnerId = parseId('prt', (params as { partner_id: string }).partner_id);
  if (!partnerId) return undefined;
  const memberships = await listMemberships(db, person.userId);
  return memberships.find(({ partner }) => partner.partnerId === partnerId);
}

const refuseCsrf = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(request, reply, 403, 'csrf', 'The request did not come from a page of the portal: reload the page.');
