import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import { type PaymentFilter, readSearchWords } from '../../payments/index.ts';
import { Mode, oneOf, paging, readFields, SearchText } from '../../web/index.ts';

const filters = {
  mode: Mode,
  q: SearchText,
  status: Type.Optional(oneOf('processing', 'succeeded', 'failed')),
  created_after: SearchText,
  created_before: SearchText,
};

/** The query string of the payment search, of its totals and of its export. */
export const Filters = Type.Object(filters);
export const Search = Type.Object({ ...filters, ...paging });

/** The filters of which a payment must match one, each limited to the partner; undefined when a field cannot be parsed. */
export function readFilters(
  query: Type.Static<typeof Filters>,
  partnerId: Id<'prt'>,
  qrHosts: readonly string[],
): PaymentFilter[] | undefined {
  const filter = readFields(read => ({
    status: query.status,
    createdFrom: read(query.created_after, parseInstant),
    createdBefore: read(query.created_before, parseInstant),
  }));
  if (!filter) return undefined;
  const words = query.q ? readSearchWords(query.q, qrHosts).filter(isOwn) : [{}];
  return words.map(word => ({ ...word, ...filter, mode: query.mode, partnerId }));

  /** Names and ids of partners are words for operators. Here they would match everything. */
  function isOwn(word: PaymentFilter): boolean {
    return word.partnerName === undefined && (word.partnerId === undefined || word.partnerId === partnerId);
  }
}
