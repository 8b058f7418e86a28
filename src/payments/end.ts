import type { Alarms } from '../alarms/index.ts';
import type { OutcomeWaiters } from './create/outcome-waiters.ts';
import type { Finish, FinishResult, PaymentWriter } from './store.ts';

export interface EndDeps {
  writer: PaymentWriter;
  waiting: OutcomeWaiters;
  alarms: Alarms;
}

/**
 * Ends a payment as the gateway says, unless somebody else was quicker. What is terminal stays as it is: an answer to
 * the contrary only raises an alarm. So does one that cannot be true of a payment that is still running; whoever heard
 * it has to see that it is looked at again.
 */
export async function endPayment(deps: EndDeps, ending: Finish): Promise<FinishResult> {
  const result = await deps.writer.finish(ending);
  deps.waiting.wake(ending.paymentId);
  const { changed, standing } = result;
  const isContrary =
    standing === 'processing' || (standing === 'succeeded') !== (ending.outcome === 'succeeded');
  if (!changed && isContrary) {
    const order = 'orderId' in ending ? ` (order ${ending.orderId})` : '';
    await deps.alarms.raise({
      kind: 'gateway_contradiction',
      subject: ending.paymentId,
      detail: `The payment is ${standing}; now the gateway says ${ending.outcome}${order}.`,
    });
  }
  return result;
}
