import type { Alarms } from '../alarms/index.ts';
import type { Queryable } from '../db/pool.ts';
import type { Finish, FinishResult, PaymentWriter } from './store.ts';
import { lookAgain } from './unfinished.ts';
import type { Waiting } from './wait.ts';

export interface EndDeps {
  db: Queryable;
  writer: PaymentWriter;
  waiting: Waiting;
  alarms: Alarms;
}

/**
 * Ends a payment as the gateway says, unless somebody else was quicker. What is terminal stays as it is: an answer to
 * the contrary only raises an alarm. So does one that cannot be true of a payment that is still running, which is
 * looked at again then.
 */
export async function endPayment(deps: EndDeps, ending: Finish, nextLookAt: Date): Promise<FinishResult> {
  const result = await deps.writer.finish(ending);
  deps.waiting.wake(ending.paymentId);
  const { changed, standing } = result;
  if (changed) return result;
  if (standing === 'processing') await lookAgain(deps.db, ending, { at: nextLookAt, review: true });
  if ((standing === 'succeeded') !== (ending.outcome === 'succeeded') || standing === 'processing') {
    const order = 'orderId' in ending ? ` (order ${ending.orderId})` : '';
    await deps.alarms.raise({
      kind: 'gateway_contradiction',
      subject: ending.paymentId,
      detail: `The payment is ${standing}; now the gateway says ${ending.outcome}${order}.`,
    });
  }
  return result;
}
