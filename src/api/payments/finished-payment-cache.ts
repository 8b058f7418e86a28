import { createBoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type Payment, paymentObject } from '../../payments/index.ts';

/** Together a few megabytes; larger answers are not cached. */
const maxAnswers = 10_000;
const maxCharacters = 2_048;
/** From the end of the payment. Test payments are deleted after seven days at the earliest, archived months after 31. */
const usableMs = 6 * 86_400_000;

const cacheKey = ({ partnerId, mode }: AccountKey, paymentId: string) => `${partnerId} ${mode} ${paymentId}`;

/** A finished payment never changes, so its answer can be repeated without a query, as long as it cannot be deleted. */
export interface FinishedPaymentCache {
  /** The answer about a payment of this account; undefined if it is not cached. */
  find(account: AccountKey, paymentId: string): string | undefined;
  /** The payment as JSON text; that of one that finished lately is cached. */
  toJson(payment: Payment): string;
}

export function createFinishedPaymentCache(clock: Clock): FinishedPaymentCache {
  const answers = createBoundedCache<{ text: string; untilMs: number }>(maxAnswers);
  return {
    find: (account, paymentId) => {
      const answer = answers.get(cacheKey(account, paymentId));
      return answer && clock.nowMs() < answer.untilMs ? answer.text : undefined;
    },
    toJson: payment => {
      const text = paymentObject(payment);
      const untilMs = (payment.settledAt?.getTime() ?? 0) + usableMs;
      if (clock.nowMs() < untilMs && text.length <= maxCharacters)
        answers.set(cacheKey(payment, payment.paymentId), { text, untilMs });
      return text;
    },
  };
}
