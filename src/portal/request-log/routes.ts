import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import { parseStatus, type RequestFilter, searchRequests } from '../../request-log/index.ts';
import { type Answer, loggedRequestRow, type Page, paging, unsearchable } from '../../web/index.ts';
import { get } from '../route.ts';
import type { LoggedRequestRow } from '../shapes/request-log.ts';

const Text = Type.Optional(Type.String({ maxLength: 2_048 }));

const Query = Type.Object({
  request_id: Text,
  /** `4xx` or `404`. */
  status: Text,
  error_code: Text,
  since: Text,
  until: Text,
  ...paging,
});

/** What the keys of a partner asked the API, and how it was answered. */
export const requestLogRoute = get(
  '/request-log',
  'developer',
  { query: Query },
  async (request, deps): Answer<Page<LoggedRequestRow>> => {
    const { partnerId } = request.member.partner;
    const { limit, after: cursor } = request.query;
    const filter = readFilter(request.query);
    const after = cursor === undefined ? undefined : parseId('req', cursor);
    if (!filter || (cursor !== undefined && !after)) return unsearchable;
    const page = await searchRequests(deps.readsOf(partnerId), { ...filter, partnerId }, { after, limit });
    return {
      data: page.requests.map(loggedRequestRow),
      next_cursor: page.next,
    };
  },
);

/** Undefined when a field cannot be parsed. */
function readFilter(query: Type.Static<typeof Query>): RequestFilter | undefined {
  let isValid = true;
  const read = <Value>(text: string | undefined, parse: (text: string) => Value | undefined) => {
    const trimmed = text?.trim();
    if (!trimmed) return undefined;
    const value = parse(trimmed);
    if (value === undefined) isValid = false;
    return value;
  };
  const filter = {
    requestId: read(query.request_id, text => parseId('req', text)),
    status: read(query.status, parseStatus),
    errorCode: read(query.error_code, text => text),
    since: read(query.since, parseInstant),
    until: read(query.until, parseInstant),
  };
  return isValid ? filter : undefined;
}
