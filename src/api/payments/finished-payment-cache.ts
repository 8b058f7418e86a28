import { createBoundedCache } from '../../base/bounded-cache.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type Payment, paymentObject } from '../../payments/index.ts';

/** Together a few megabytes; larger answers are not cached. */
const maxAnswers = 10_000;
const maxCharacters = 2_048;

const cacheKey = ({ partnerId, mode }: AccountKey, paymentId: string) => `${partnerId} ${mode} ${paymentId}`;

/** A finished payment never changes, so its answer can be repeated without a query. */
export interface FinishedPaymentCache {
  /** The answer about a payment of this account; undefined if it is not cached. */
  find(account: AccountKey, paymentId: string): string | undefined;
  /** The payment as JSON text; that of a finished payment is cached. */
  toJson(payment: Payment): string;
}

export function createFinishedPaymentCache(): FinishedPaymentCache {
  const answers = createBoundedCache<string>(maxAnswers);
  return {
    find: (account, paymentId) => answers.get(cacheKey(account, paymentId)),
    toJson: payment => {
      const text = paymentObject(payment);
      if (payment.status !== 'processing' && text.length <= maxCharacters)
        answers.set(cacheKey(payment, payment.paymentId), text);
      return text;
    },
  };
}
