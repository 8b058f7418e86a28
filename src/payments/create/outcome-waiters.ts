import type { Clock } from '../../base/clock.ts';
import type { Id } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Payment } from '../payment.ts';
import { findPayment } from '../store.ts';

export interface OutcomeWaiters {
  /** The payment when it is finished, or as it is when time is up. */
  forOutcome(payment: AccountKey & { paymentId: Id<'pay'> }, deadlineMs: number): Promise<Payment>;
  /** Somebody in this process has finished it: those who wait here need not find out by themselves. */
  wake(paymentId: Id<'pay'>): void;
  /** The process is leaving: those who wait get the payment as it is. */
  stop(): void;
}

/** Often enough for whoever waits for another process, seldom enough for the database. */
const lookEveryMs = 500;

export function createOutcomeWaiters(db: Queryable, clock: Clock): OutcomeWaiters {
  let stopped = false;
  const sleepers = new Map<Id<'pay'>, Set<AbortController>>();

  async function sleepUntilWoken(paymentId: Id<'pay'>, ms: number): Promise<void> {
    const alarm = new AbortController();
    const together = sleepers.get(paymentId) ?? new Set();
    sleepers.set(paymentId, together.add(alarm));
    await clock.sleep(ms, alarm.signal);
    together.delete(alarm);
    if (together.size === 0) sleepers.delete(paymentId);
  }

  return {
    forOutcome: async (account, deadlineMs) => {
      for (;;) {
        const payment = await findPayment(db, account, account.paymentId);
        const leftMs = deadlineMs - clock.nowMs();
        if (payment!.status !== 'processing' || leftMs <= 0 || stopped) return payment!;
        await sleepUntilWoken(account.paymentId, Math.min(lookEveryMs, leftMs));
      }
    },
    wake: paymentId => {
      for (const alarm of sleepers.get(paymentId) ?? []) alarm.abort();
    },
    stop: () => {
      stopped = true;
      for (const alarm of Array.from(sleepers.values(), set => [...set]).flat()) alarm.abort();
    },
  };
}
