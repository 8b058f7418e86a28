import { createRecent } from '../base/recent.ts';
import type { AccountKey } from '../ledger/index.ts';
import { type Payment, paymentObject } from '../payments/index.ts';

/** Together a few megabytes; large ones are read again. */
const keptAnswers = 10_000;
const keptCharacters = 2_048;

const nameOf = ({ partnerId, mode }: AccountKey, paymentId: string) => `${partnerId} ${mode} ${paymentId}`;

/** A finished payment never changes, so what was answered once can be answered again without asking the database. */
export function rememberFinished() {
  const answers = createRecent<string>(keptAnswers);
  return {
    /** What was answered about a payment of theirs, if it is finished. */
    find: (account: AccountKey, paymentId: string) => answers.get(nameOf(account, paymentId)),
    describe: (payment: Payment): string => {
      const text = paymentObject(payment);
      if (payment.status !== 'processing' && text.length <= keptCharacters)
        answers.add(nameOf(payment, payment.paymentId), text);
      return text;
    },
  };
}
