import type { Clock } from '../../base/clock.ts';
import type { Id } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Payment } from '../payment.ts';
import type { PaymentSignals } from '../signals.ts';
import { findPayment } from '../store.ts';

/** For payments that another process finishes; those of this process end the wait by their signal. */
const pollIntervalMs = 500;

/** A reason of our own: without one, every abort creates an error with its stack. */
const wakeUp = 'wake up';

export type OutcomeWaiters = ReturnType<typeof createOutcomeWaiters>;

/** Requests that wait for the final status of a payment. */
export function createOutcomeWaiters(db: Queryable, clock: Clock, { eventWritten }: PaymentSignals) {
  let isStopped = false;
  const pauses = new Map<Id<'pay'>, Set<AbortController>>();

  async function pause(paymentId: Id<'pay'>, ms: number): Promise<void> {
    const own = new AbortController();
    const ofPayment = pauses.get(paymentId) ?? new Set();
    pauses.set(paymentId, ofPayment.add(own));
    await clock.sleep(ms, own.signal);
    ofPayment.delete(own);
    if (ofPayment.size === 0) pauses.delete(paymentId);
  }

  eventWritten.subscribe(paymentId => {
    for (const waiting of pauses.get(paymentId) ?? []) waiting.abort(wakeUp);
  });

  return {
    /** The payment when it is finished, or as it is at the deadline. */
    waitForOutcome: async (
      account: AccountKey & { paymentId: Id<'pay'> },
      deadlineMs: number,
    ): Promise<Payment> => {
      for (;;) {
        const payment = await findPayment(db, account, account.paymentId);
        const leftMs = deadlineMs - clock.nowMs();
        if (payment!.status !== 'processing' || leftMs <= 0 || isStopped) return payment!;
        await pause(account.paymentId, Math.min(pollIntervalMs, leftMs));
      }
    },
    /** For the shutdown: all waiting requests get the payment as it is. */
    stop: () => {
      isStopped = true;
      for (const waiting of Array.from(pauses.values(), set => [...set]).flat()) waiting.abort(wakeUp);
    },
  };
}
