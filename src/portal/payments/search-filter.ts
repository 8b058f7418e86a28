import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import { type PaymentFilter, readSearchWords } from '../../payments/index.ts';
import { Mode, paging, paymentFilters, readFields, readPaymentFilters } from '../../web/index.ts';

const filters = { ...paymentFilters, mode: Mode };

/** The query string of the payment search, of its totals and of its export. */
export const Filters = Type.Object(filters);
export const Search = Type.Object({ ...filters, ...paging });

/** The filters of which a payment must match one, each limited to the partner; undefined when a field cannot be parsed. */
export function readFilters(
  query: Type.Static<typeof Filters>,
  partnerId: Id<'prt'>,
  qrHosts: readonly string[],
): PaymentFilter[] | undefined {
  const filter = readFields(read => readPaymentFilters(query, read));
  if (!filter) return undefined;
  const words = query.q ? readSearchWords(query.q, qrHosts).filter(isOwn) : [{}];
  return words.map(word => ({ ...word, ...filter, mode: query.mode, partnerId }));

  /** Names and ids of partners are words for operators. Here they would match everything. */
  function isOwn(word: PaymentFilter): boolean {
    return word.partnerName === undefined && (word.partnerId === undefined || word.partnerId === partnerId);
  }
}
