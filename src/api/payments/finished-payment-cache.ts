import { createBoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { findRefunded, mayBeRefunded, type Payment, paymentObject } from '../../payments/index.ts';

/** Together a few megabytes; larger answers are not cached. */
const maxAnswers = 10_000;
const maxCharacters = 2_048;
/** From the end of the payment. Test payments are deleted after seven days at the earliest, archived months after 31. */
const usableMs = 6 * 86_400_000;

const cacheKey = ({ partnerId, mode }: AccountKey, paymentId: string) => `${partnerId} ${mode} ${paymentId}`;

type RefundedKey = Pick<Payment, 'status' | 'paymentId'>;
const keyOf = ({ status, paymentId }: Payment): RefundedKey => ({ status, paymentId });

export type FinishedPaymentCache = ReturnType<typeof createFinishedPaymentCache>;

/**
 * A finished payment never changes, so its answer can be repeated without a query, as long as it cannot be deleted. Of one
 * that succeeded, money may come back at any time: that is asked for.
 */
export function createFinishedPaymentCache(clock: Clock) {
  const answers = createBoundedCache<{ text: string; untilMs: number; payment: RefundedKey }>(maxAnswers);
  /** Of a payment that was just made: nothing has come back of it. */
  const newToJson = (payment: Payment) => {
    const text = paymentObject(payment);
    const untilMs = (payment.settledAt?.getTime() ?? 0) + usableMs;
    if (clock.nowMs() < untilMs && text.length <= maxCharacters)
      answers.set(cacheKey(payment, payment.paymentId), { text, untilMs, payment: keyOf(payment) });
    return text;
  };
  return {
    newToJson,
    /** The answer about a payment of this account; undefined if it is not cached, or if there are refunds. */
    find: async (db: Queryable, account: AccountKey, paymentId: string) => {
      const answer = answers.get(cacheKey(account, paymentId));
      if (!answer || clock.nowMs() >= answer.untilMs) return undefined;
      const isAsItEnded = !mayBeRefunded(answer.payment) || !(await findRefunded(db, answer.payment));
      return isAsItEnded ? answer.text : undefined;
    },
    /** The payment as JSON text, refunds included; that of one that finished lately is cached. */
    toJson: async (db: Queryable, payment: Payment) => {
      const refunded = await findRefunded(db, payment);
      return refunded ? paymentObject(payment, refunded) : newToJson(payment);
    },
  };
}
