import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createAnswersUnderWay, smallBody } from '../api/index.ts';
import { parseId } from '../base/ids.ts';
import { createTokenBuckets } from '../base/token-buckets.ts';
import {
  findPortalSession,
  hasRight,
  listMemberships,
  type MemberRight,
  rolesWith,
} from '../partners/index.ts';
import {
  isCsrfToken,
  isFromOurPage,
  type Refused,
  refuse,
  sendRefusal,
  throttled,
  unsearchable,
} from '../web/index.ts';
import { readSessionToken } from './cookie.ts';
import type { RouteDeps } from './deps.ts';

type GuardDeps = Omit<RouteDeps, 'payments'>;

/** For one person: a page sends five requests when it is opened, and one every few seconds. */
const requestRate = { perSec: 10, burst: 60 };
/** For one partner, also while a file is being sent. */
const maxUnderWay = 8;

/** Routes for members are below this path, and no others: the guard reads the partner from it. */
const partnerPath = '/portal/api/partners/:partner_id';

/**
 * Guards every route of the scope; each route declares whom it allows. A request is checked in this order: a change must
 * come from our origin, there must be a session, a change must carry the CSRF token of that session, the person is within
 * the rate, is a member of the partner in the path now, and has the right.
 */
export function guard(scope: FastifyInstance, deps: GuardDeps): void {
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
    if (isChange && !isFromOurPage(deps, request)) return sendRefusal(request, reply, foreign);
    if (allows === 'everybody') return undefined;

    const found = await findSignedIn(deps, request);
    if (!found) return sendRefusal(request, reply, signedOut);
    const { token, person } = found;
    const sent = request.headers['x-csrf-token'];
    if (isChange && !isCsrfToken(deps.keyring, 'portal', `${sent}`, token))
      return sendRefusal(request, reply, foreign);
    const retryAfterSec = takeToken(`${person.userId}`);
    if (retryAfterSec !== undefined) return sendRefusal(request, reply, throttled(retryAfterSec));
    if (hasNul(request)) return sendRefusal(request, reply, unsearchable);
    request.person = person;
    if (allows === 'person') return undefined;

    const member = await findMember(deps, request);
    if (!member) return sendRefusal(request, reply, outsider);
    if (!hasRight(member.role, allows!)) return sendRefusal(request, reply, refuseRight(allows!));
    if (!underWay.begin(member.partner.partnerId, maxUnderWay, reply))
      return sendRefusal(request, reply, throttled(1));
    request.member = member;
    return undefined;
  });

  // The body may have taken its time: who was removed meanwhile changes nothing.
  scope.addHook('preHandler', async (request, reply) => {
    if (request.method === 'GET' || request.routeOptions.config.allows === 'everybody') return undefined;
    const refusal = await whyNotAllowed(deps, request);
    return refusal && sendRefusal(request, reply, refusal);
  });
}

/** Decided again after something slow: the session, the membership or its role may be gone. */
export async function whyNotAllowed(deps: GuardDeps, request: FastifyRequest): Promise<Refused | undefined> {
  const { allows } = request.routeOptions.config;
  if (!(await findSignedIn(deps, request))) return signedOut;
  if (allows === 'person') return undefined;
  const needed = allows as MemberRight;
  const member = await findMember(deps, request);
  if (!member) return outsider;
  request.member = member;
  return hasRight(member.role, needed) ? undefined : refuseRight(needed);
}

const signedOut = refuse(401, 'signed_out', 'Sign in to continue.');

const outsider = refuse(404, 'no_partner', 'You are not in the team of this partner.');

/** Also for what depends on more than the route: live keys are for owners. */
export const refuseRight = (needed: MemberRight) =>
  refuse(403, 'forbidden', `This needs one of these roles: ${rolesWith(needed).join(', ')}.`);

/** PostgreSQL stores no NUL, so a query for one would fail. Bodies are checked where they are parsed. */
const hasNul = ({ url }: FastifyRequest) => url.includes('%00');

/** The person who is signed in, and the session's token. Background requests of a page do not prolong the session. */
export async function findSignedIn({ db, clock }: GuardDeps, request: FastifyRequest) {
  const token = readSessionToken(request);
  if (token === undefined) return undefined;
  const isUserActivity = request.headers['x-background'] === undefined;
  const person = await findPortalSession(db, clock, token, { isUserActivity });
  return person && { token, person };
}

/** Read for every request, so that a removal or another role takes effect at once. */
async function findMember({ db }: GuardDeps, { params, person }: FastifyRequest) {
  const partnerId = parseId('prt', (params as { partner_id: string }).partner_id);
  if (!partnerId) return undefined;
  const memberships = await listMemberships(db, person.userId);
  return memberships.find(({ partner }) => partner.partnerId === partnerId);
}

const foreign = refuse(403, 'csrf', 'The request did not come from a page of the portal: reload the page.');
