import type { Id } from '../../src/base/ids.ts';
import { createReferenceSealer, openReference } from '../../src/payments/order-reference.ts';
import { keyring } from '../helpers/partners.ts';
import type { BookedPayment } from './books.ts';

export const references = createReferenceSealer(keyring);

/** Whether the payment could be rebuilt from what the bank side keeps with its order. */
export function isCarriedBy(reference: string, payment: BookedPayment): boolean {
  const carried = openReference(reference, references, payment.paymentId as Id<'pay'>);
  return (
    carried?.partnerId === payment.partnerId &&
    carried.mode === payment.mode &&
    carried.idempotencyKey === payment.key &&
    carried.qrcId === payment.qrcId &&
    Number(carried.amountKopecks) === payment.kopecks &&
    Number(carried.microUsdt) === payment.microUsdt &&
    carried.createdAt.getTime() === payment.createdMs
  );
}
