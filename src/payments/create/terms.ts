import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import { findQuote, type LockedQuote, type QuoteRefusal } from '../quotes/quote.ts';
import type { PaymentRequest } from './request.ts';
import { scenarioIn } from './scenarios.ts';

/** The rate of a payment: the current one, or that of a locked quote. */
export interface Terms {
  rateE4: bigint;
  rateId: bigint;
  /** From then on nothing is debited at this rate. */
  rateStaleAt: Date;
  from: { rate: CurrentRate } | { quote: LockedQuote };
}

interface TermsDeps {
  db: Queryable;
  clock: Clock;
  rateMaxAgeSec: number;
}

/** A locked quote holds though the current rate has become stale. Only requests that name one ask for it. */
export async function findTerms(
  deps: TermsDeps,
  caller: AccountKey,
  { quoteId, metadata }: PaymentRequest,
): Promise<Terms | QuoteRefusal | 'rate_unavailable'> {
  if (quoteId !== undefined) {
    const quote = await findQuote(deps.db, caller, quoteId, new Date(deps.clock.nowMs()));
    if (typeof quote === 'string') return quote;
    return { rateE4: quote.rateE4, rateId: quote.rateId, rateStaleAt: quote.expiresAt, from: { quote } };
  }
  const rate = await readCurrentRate(deps.db);
  const isUsable = rate && !isStale(rate, deps.clock, deps.rateMaxAgeSec);
  if (!isUsable || scenarioIn(caller.mode, metadata) === 'rate_stale') return 'rate_unavailable';
  return termsOf(deps, rate);
}

export const termsOf = ({ rateMaxAgeSec }: Pick<TermsDeps, 'rateMaxAgeSec'>, rate: CurrentRate): Terms => ({
  rateE4: rate.rateE4,
  rateId: rate.rateId,
  rateStaleAt: new Date(rate.asOf.getTime() + rateMaxAgeSec * 1_000),
  from: { rate },
});
