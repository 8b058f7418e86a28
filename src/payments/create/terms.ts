import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { isStale, type RateMemo } from '../../rates/index.ts';
import { findQuote, type LockedQuote } from '../quotes/quote.ts';
import type { PaymentRequest } from './request.ts';
import { scenarioIn } from './scenarios.ts';

/** The rate of a payment: the current one, or that of a locked quote. */
export interface Terms {
  rateE4: bigint;
  rateId: bigint;
  /** From then on nothing is debited at this rate. */
  rateStaleAt: Date;
  quote?: LockedQuote;
}

export interface TermsDeps {
  db: Queryable;
  clock: Clock;
  rateMaxAgeSec: number;
  rateMemo: RateMemo;
}

/** A locked quote holds though the current rate has become stale. Only requests that name one ask for it. */
export async function findTerms(
  deps: TermsDeps,
  caller: AccountKey,
  { quoteId, metadata }: PaymentRequest,
): Promise<Terms | 'quote_not_found' | 'rate_unavailable'> {
  const { db, clock, rateMaxAgeSec, rateMemo } = deps;
  if (quoteId !== undefined) {
    const quote = await findQuote(db, caller, quoteId);
    if (!quote) return 'quote_not_found';
    return { rateE4: quote.rateE4, rateId: quote.rateId, rateStaleAt: quote.expiresAt, quote };
  }
  let rate = await rateMemo.read();
  if (rate && isStale(rate, clock, rateMaxAgeSec)) {
    rateMemo.forget();
    rate = await rateMemo.read();
  }
  if (!rate || isStale(rate, clock, rateMaxAgeSec)) return 'rate_unavailable';
  if (scenarioIn(caller.mode, metadata) === 'rate_stale') return 'rate_unavailable';
  const rateStaleAt = new Date(rate.asOf.getTime() + rateMaxAgeSec * 1_000);
  return { rateE4: rate.rateE4, rateId: rate.rateId, rateStaleAt };
}
