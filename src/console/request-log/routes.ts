import Type from 'typebox';
import { type Id, parseId } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { findPartnersByName, searchPartners } from '../../partners/index.ts';
import {
  type LoggedRequest,
  parseStatus,
  type RequestFilter,
  searchRequests,
} from '../../request-log/index.ts';
import { type Answer, loggedRequestRow, paging, refuse, unsearchable } from '../../web/index.ts';
import { get } from '../route.ts';
import type { Page } from '../shapes/common.ts';
import type { LoggedRequestRow } from '../shapes/request-log.ts';

const Text = Type.Optional(Type.String({ maxLength: 2_048 }));

const Query = Type.Object({
  request_id: Text,
  /** An id or a name. */
  partner: Text,
  path: Text,
  /** `4xx` or `404`. */
  status: Text,
  error_code: Text,
  since: Text,
  until: Text,
  ...paging,
});

/** The requests of partners to the API, for support: who asked for what, and how it was answered. */
export const requestLogRoute = get(
  '/request-log',
  'see',
  { query: Query },
  async (request, { db }): Answer<Page<LoggedRequestRow>> => {
    const { limit, after: cursor, partner } = request.query;
    const filter = readFilter(request.query);
    const after = cursor === undefined ? undefined : parseId('req', cursor);
    if (!filter || (cursor !== undefined && !after)) return unsearchable;
    const name = partner?.trim();
    const partnerIds = name ? await partnersMeant(db, name) : [];
    if (partnerIds.length > 1)
      return refuse(422, 'invalid_request', 'Several partners match this name: enter the partner ID.');
    if (name && partnerIds.length === 0) return { data: [], next_cursor: null };
    const page = await searchRequests(db, { ...filter, partnerId: partnerIds[0] }, { after, limit });
    return { data: page.requests.map(requestRow), next_cursor: page.next };
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
    path: read(query.path, text => text.split('?', 1)[0]),
    status: read(query.status, parseStatus),
    errorCode: read(query.error_code, text => text),
    since: read(query.since, parseInstant),
    until: read(query.until, parseInstant),
  };
  return isValid ? filter : undefined;
}

/** A whole name is preferred to one that only contains the text. */
async function partnersMeant(db: Queryable, text: string): Promise<Id<'prt'>[]> {
  const partnerId = parseId('prt', text);
  if (partnerId) return [partnerId];
  const named = await findPartnersByName(db, text);
  if (named.length > 0) return named.map(partner => partner.partnerId);
  const similar = await searchPartners(db, { text, after: undefined, limit: 2 });
  return similar.map(({ partner }) => partner.partnerId);
}

const requestRow = (request: LoggedRequest): LoggedRequestRow => ({
  ...loggedRequestRow(request),
  partner_id: request.partnerId,
  partner: request.partnerName,
});
