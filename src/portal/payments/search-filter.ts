import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import { parseInstant } from '../../base/instants.ts';
import { type PaymentFilter, readSearchWords } from '../../payments/index.ts';
import { Mode, paging } from '../../web/index.ts';

const Text = Type.Optional(Type.String({ maxLength: 2_048 }));

const filters = {
  mode: Mode,
  q: Text,
  status: Type.Optional(
    Type.Union([Type.Literal('processing'), Type.Literal('succeeded'), Type.Literal('failed')]),
  ),
  created_after: Text,
  created_before: Text,
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
  const createdFrom = query.created_after ? parseInstant(query.created_after) : undefined;
  const createdBefore = query.created_before ? parseInstant(query.created_before) : undefined;
  if ((query.created_after && !createdFrom) || (query.created_before && !createdBefore)) return undefined;
  const words = query.q ? readSearchWords(query.q, qrHosts).filter(isOwn) : [{}];
  return words.map(word => ({
    ...word,
    ...(query.status ? { status: query.status } : {}),
    ...(createdFrom ? { createdFrom } : {}),
    ...(createdBefore ? { createdBefore } : {}),
    mode: query.mode,
    partnerId,
  }));

  /** Names and ids of partners are words for operators. Here they would match everything. */
  function isOwn(word: PaymentFilter): boolean {
    return word.partnerName === undefined && (word.partnerId === undefined || word.partnerId === partnerId);
  }
}
