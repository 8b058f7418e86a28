import { parseId } from '../../base/ids.ts';
import { searchRequests } from '../../request-log/index.ts';
import { loggedRequestRow, readRequestFilter, requestLogQuery, unsearchable } from '../../web/index.ts';
import { get } from '../route.ts';

/** What the keys of a partner asked the API, and how it was answered. */
export const requestLogRoute = get(
  '/request-log',
  'integrate',
  { query: requestLogQuery },
  async (request, deps) => {
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
  },
);
