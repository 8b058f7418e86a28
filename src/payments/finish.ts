import type { Alarms } from '../alarms/index.ts';
import type { Id } from '../base/ids.ts';
import type { OperationNumber } from '../gateway/index.ts';
import type { FinishResult, PaymentToFinish } from './results.ts';
import type { PaymentSignals } from './signals.ts';
import type { PaymentWriter } from './store.ts';

export interface FinishDeps {
  writer: PaymentWriter;
  signals: PaymentSignals;
  alarms: Alarms;
  log: Record<'warn' | 'error', (details: object, message: string) => void>;
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
  // Nobody waits for it: it must not delay what is said of the payment.
  if (status === 'succeeded' && payment.outcome === 'succeeded') void keepOperationNumber(deps, payment);
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

async function keepOperationNumber(
  { writer, log }: FinishDeps,
  { paymentId, operationNumber }: { paymentId: Id<'pay'>; operationNumber?: OperationNumber },
): Promise<void> {
  if (operationNumber === undefined) return;
  if (operationNumber === null)
    return log.warn({ paymentId }, 'the payment gateway gave an operation number that cannot be used');
  await writer
    .keepOperationNumber({ paymentId, operationNumber })
    .catch(err => log.warn({ err, paymentId }, 'the operation number of a payment was not stored'));
}
