import { type Clock, instantOf } from '../../base/clock.ts';
import { newId, uuidFromId } from '../../base/ids.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import type { QuoteLockSettings } from '../../base/quote-settings.ts';
import { readPaymentStops } from '../../controls/index.ts';
import { createBatcher, whileOthersJoin } from '../../db/batching/index.ts';
import { columnsOf, isItemError, type Queryable, retryOnDeadlock } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { partnerRateE4, readCurrentRate } from '../../rates/index.ts';
import { type Caller, limitRefusal } from '../create/prepare.ts';
import type { TermsDeps } from '../create/terms.ts';
import { refused } from '../results.ts';
import type { LockedQuote } from './quote.ts';

/** The terms of a quote that is to be locked. */
export interface QuoteTerms
  extends AccountKey,
    Pick<LockedQuote, 'amountKopecks' | 'microUsdt' | 'rateE4' | 'rateId'> {
  /** After that the rate locks nothing any more. */
  rateStaleAt: Date;
}

type QuoteLocking =
  | { outcome: 'locked'; quote: LockedQuote }
  | { outcome: 'refused'; code: 'rate_unavailable' | 'quote_limit_exceeded' };

export type QuoteLocker = ReturnType<typeof createQuoteLocker>;

/** Locks quotes. Calls that arrive together share one statement and one commit. */
export function createQuoteLocker(db: Queryable, clock: Clock, settings: QuoteLockSettings) {
  const { lifetimeSec, spreadBps, maxMicroUsdtOfPartner, maxMicroUsdt } = settings;

  async function lockAll(quotes: QuoteTerms[]): Promise<QuoteLocking[]> {
    const at = instantOf(clock);
    const expiresAt = new Date(at.getTime() + lifetimeSec * 1_000);
    const ids = quotes.map(() => newId('qte', clock));
    const { rows } = await db.query<{ verdict: 'locked' | 'rate_unavailable' | 'quote_limit_exceeded' }>({
      name: 'quotes_lock',
      text: 'SELECT verdict FROM quotes_lock($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ORDER BY item',
      values: [
        ids.map(uuidFromId),
        quotes.map(({ partnerId }) => uuidFromId(partnerId)),
        ...columnsOf(quotes, 'mode', 'amountKopecks', 'microUsdt', 'rateE4', 'rateId', 'rateStaleAt'),
        spreadBps,
        at,
        expiresAt,
        maxMicroUsdtOfPartner,
        maxMicroUsdt,
      ],
    });
    return rows.map(({ verdict }, nth): QuoteLocking => {
      if (verdict !== 'locked') return { outcome: 'refused', code: verdict };
      const { amountKopecks, microUsdt, rateE4, rateId } = quotes[nth]!;
      const terms = { amountKopecks, microUsdt, rateE4, rateId, spreadBps };
      return { outcome: 'locked', quote: { quoteId: ids[nth]!, ...terms, lockedAt: at, expiresAt } };
    });
  }

  const lock = createBatcher<QuoteTerms, QuoteLocking>({
    run: quotes => retryOnDeadlock(() => lockAll(quotes)),
    isItemError,
    maxBatch: 64,
    maxWaiting: 1_000,
    gather: whileOthersJoin,
  });
  return { settings, lock };
}

interface LockDeps extends Pick<TermsDeps, 'db' | 'clock' | 'rateMaxAgeSec'> {
  quoteLocker: QuoteLocker;
}

/** Locks the current rate for a payment of this amount. What could not be paid now is not locked. */
export async function lockQuote(deps: LockDeps, caller: Caller, amountKopecks: bigint) {
  const { db, clock, quoteLocker } = deps;
  const [stops, rate] = await Promise.all([readPaymentStops(db, clock), readCurrentRate(db)]);
  if (stops.isUnderMaintenance || stops.isRecovering) return refused('maintenance');
  if (!rate) return refused('rate_unavailable');
  const refusal = limitRefusal(caller, amountKopecks);
  if (refusal) return refused(refusal);
  const rateE4 = partnerRateE4(rate.rateE4, quoteLocker.settings.spreadBps);
  const { partnerId, mode } = caller;
  const locking = await quoteLocker.lock({
    partnerId,
    mode,
    amountKopecks,
    microUsdt: kopecksToMicroUsdt(amountKopecks, rateE4),
    rateE4,
    rateId: rate.rateId,
    rateStaleAt: new Date(rate.asOf.getTime() + deps.rateMaxAgeSec * 1_000),
  });
  return locking.outcome === 'locked' ? { ...locking, rate } : locking;
}
