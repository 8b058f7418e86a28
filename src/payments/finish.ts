import type { Alarms } from '../alarms/index.ts';
import type { FinishResult, PaymentToFinish } from './results.ts';
import type { PaymentSignals } from './signals.ts';
import type { PaymentWriter } from './store.ts';

export interface FinishDeps {
  writer: PaymentWriter;
  signals: PaymentSignals;
  alarms: Alarms;
}

/**
 * Finishes a payment with the gateway's answer, unless another process was quicker. The same statement writes the event
 * for the partner's webhook to the outbox, and the signal makes the delivery read the outbox now.
 *
 * A final status never changes: a contrary answer only raises an alarm. So does an answer that cannot be true of a payment
 * still `processing`; the caller must then schedule another poll.
 */
export async function finishPayment(deps: FinishDeps, payment: PaymentToFinish): Promise<FinishResult> {
  const result = await deps.writer.finish(payment);
  const { changed, status } = result;
  if (status !== 'processing') deps.signals.eventWritten.emit(payment.paymentId);
  const isContrary =
    status === 'processing' || (status === 'succeeded') !== (payment.outcome === 'succeeded');
  if (!changed && isContrary) {
    const order = 'orderId' in payment ? ` (order ${payment.orderId})` : '';
    await deps.alarms.raise({
      kind: 'gateway_contradiction',
      subject: payment.paymentId,
      detail: `The payment is ${status}, but the gateway now reports ${payment.outcome}${order}.`,
    });
  }
  return result;
}
