import Type from 'typebox';
import { type Id, parseId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { findPartnersByName, searchPartners } from '../../partners/index.ts';
import { type LoggedRequest, searchRequests } from '../../request-log/index.ts';
import {
  loggedRequestRow,
  readRequestFilter,
  refuse,
  requestLogQuery,
  SearchText,
  unsearchable,
} from '../../web/index.ts';
import { get } from '../route.ts';

/** `partner` is an id or a name. */
const Query = Type.Object({ ...requestLogQuery, partner: SearchText, path: SearchText });

/** The requests of partners to the API, for support: who asked for what, and how it was answered. */
export const requestLogRoute = get('/request-log', 'see', { query: Query }, async (request, { db }) => {
  const { limit, after: cursor, partner } = request.query;
  const filter = readRequestFilter(request.query);
  const after = cursor === undefined ? undefined : parseId('req', cursor);
  if (!filter || (cursor !== undefined && !after)) return unsearchable;
  const name = partner?.trim();
  const partnerIds = name ? await partnersMeant(db, name) : [];
  if (partnerIds.length > 1)
    return refuse(422, 'invalid_request', 'Several partners match this name: enter the partner ID.');
  if (name && partnerIds.length === 0) return { data: [], next_cursor: null };
  const page = await searchRequests(db, { ...filter, partnerId: partnerIds[0] }, { after, limit });
  return { data: page.requests.map(requestRow), next_cursor: page.next };
});

/** A whole name is preferred to one that only contains the text. */
async function partnersMeant(db: Queryable, text: string): Promise<Id<'prt'>[]> {
  const partnerId = parseId('prt', text);
  if (partnerId) return [partnerId];
  const named = await findPartnersByName(db, text);
  if (named.length > 0) return named.map(partner => partner.partnerId);
  const similar = await searchPartners(db, { text, after: undefined, limit: 2 });
  return similar.map(({ partner }) => partner.partnerId);
}

export const requestRow = (request: LoggedRequest) => ({
  ...loggedRequestRow(request),
  partner_id: request.partnerId,
  partner: request.partnerName,
});
