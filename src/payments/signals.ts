import type { Id } from '../base/ids.ts';
import { createSignal } from '../base/signal.ts';

export type PaymentSignals = ReturnType<typeof createPaymentSignals>;

/**
 * What the payments of this process announce to its other parts. Nothing depends on a signal arriving: it only saves the
 * pause until the next poll of the database. `runtime/worker.ts` and the outcome waiters subscribe.
 */
export const createPaymentSignals = () => ({
  /** An event of the payment is in the outbox: of its end, or of a refund. */
  eventWritten: createSignal<Id<'pay'>>(),
  /** A partner has moved its test clock, so payments and deliveries may be due. */
  testClockMoved: createSignal(),
});
