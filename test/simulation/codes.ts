import { type Id, uuidFromId } from '../../src/base/ids.ts';
import type { Books } from './books.ts';
import type { World } from './world.ts';

/** A code that is reserved in vain is freed once the id of its payment is so old; a sweep comes every 30 s. */
const sweptAfterMs = 120_000;

const unfinishedOf = ({ payments }: Books) =>
  payments.filter(({ mode, status }) => mode === 'live' && status === 'processing');

/** The payments for which a code is reserved that have ended, or do not exist. */
function reservedInVain(books: Books): string[] {
  const unfinished = new Set(unfinishedOf(books).map(({ paymentId }) => paymentId));
  return books.codes.flatMap(({ paymentIds }) => paymentIds.filter(id => !unfinished.has(id)));
}

/** Ids begin with their time. */
const idMs = (id: string) =>
  Number.parseInt(
    uuidFromId(id as Id<'pay'>)
      .replaceAll('-', '')
      .slice(0, 12),
    16,
  );

/** When a sweep could free a code. */
export const nextSweepMs = (books: Books) =>
  Math.min(...reservedInVain(books).map(id => idMs(id) + sweptAfterMs + 1), Number.POSITIVE_INFINITY);

/** The invariants of docs/internals/shards.md, checked after every change. */
export function checkCodes({ violate, trace }: World, books: Books): void {
  const codes = new Map(books.codes.map(code => [code.qrcId, code]));
  if (codes.size < books.codes.length) violate('a code is reserved in one place', 'one of them in two');
  for (const { paymentId, partnerId, qrcId } of unfinishedOf(books)) {
    const code = codes.get(qrcId);
    if (code?.partnerId !== partnerId || !code.paymentIds.includes(paymentId))
      violate('an unfinished live payment has its code', trace.nameOf(paymentId));
  }
  const paid = new Set(books.payments.map(({ paymentId }) => paymentId));
  for (const id of books.voidIds) if (paid.has(id)) violate('what is void is never opened', trace.nameOf(id));
}
