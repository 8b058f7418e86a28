import { parseId } from '../../base/ids.ts';
import { bodyLogDurations, findBodyLog, setBodyLog } from '../../partners/index.ts';
import { findBodies, searchRequests } from '../../request-log/index.ts';
import {
  loggedRequestRow,
  oneOf,
  readRequestFilter,
  refuse,
  requestLogQuery,
  unsearchable,
} from '../../web/index.ts';
import { auditContextOf, get, post } from '../route.ts';

/** What the keys of a partner asked the API, and how it was answered. */
const listRequests = get('/request-log', 'integrate', { query: requestLogQuery }, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const { limit, after: cursor } = request.query;
  const filter = readRequestFilter(request.query);
  const after = cursor === undefined ? undefined : parseId('req', cursor);
  if (!filter || (cursor !== undefined && !after)) return unsearchable;
  const page = await searchRequests(deps.readsOf(partnerId), { ...filter, partnerId }, { after, limit });
  return {
    data: page.requests.map(loggedRequestRow),
    next_cursor: page.next,
  };
});

export const showBodies = get('/request-log/:request_id', 'integrate', {}, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const requestId = parseId('req', request.params.request_id);
  const found = requestId && (await findBodies(deps.readsOf(partnerId), partnerId, requestId));
  if (!found) return refuse(404, 'not_found', 'The log has no bodies of this request.');
  return { request_body: found.requestBody, response_body: found.responseBody };
});

/** Until when bodies are logged; a time in the past: they are not any more. */
const bodyLogRow = (until: Date | null) => ({ until: until?.toISOString() ?? null });

export const showBodyLog = get('/body-log', 'integrate', {}, async (request, deps) =>
  bodyLogRow(await findBodyLog(deps.db, request.member.partner.partnerId)),
);

const changeBodyLog = post(
  '/body-log',
  'own',
  { body: { duration: oneOf(...bodyLogDurations) } },
  async (request, deps) =>
    bodyLogRow(
      await setBodyLog(
        auditContextOf(deps, request),
        request.member.partner.partnerId,
        request.body.duration,
      ),
    ),
);

export const requestLogRoutes = [listRequests, showBodies, showBodyLog, changeBodyLog];
