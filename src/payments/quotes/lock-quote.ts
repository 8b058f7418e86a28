import type { Clock } from '../../base/clock.ts';
import { kopecksToMicroUsdt } from '../../base/money.ts';
import { readPaymentStops } from '../../controls/index.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { type CurrentRate, partnerRateE4, readCurrentRate } from '../../rates/index.ts';
import { type ErrorCode, refused } from '../create/creation.ts';
import { type Caller, limitRefusal } from '../create/prepare.ts';
import type { QuoteLocker } from './locker.ts';
import type { LockedQuote } from './quote.ts';

interface LockDeps {
  db: Queryable;
  clock: Clock;
  rateMaxAgeSec: number;
  quoteLocker: QuoteLocker;
}

export type Locking =
  | { outcome: 'locked'; quote: LockedQuote; rate: CurrentRate }
  | { outcome: 'refused'; code: ErrorCode };

/** Locks the current rate for a payment of this amount. What could not be paid now is not locked. */
export async function lockQuote(deps: LockDeps, caller: Caller, amountKopecks: bigint): Promise<Locking> {
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
