import type { Id } from '../../src/base/ids.ts';
import { createReferenceSealer, openReference } from '../../src/payments/order-reference.ts';
import { keyring } from '../helpers/partners.ts';
import type { BookedPayment } from './books.ts';
import type { LateOrders } from './past.ts';
import type { World } from './world.ts';

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

/**
 * Whatever the database forgets, the bank side pays at most one order per idempotency key: unless the first one was so late that
 * the partner has repeated its request before.
 */
export function createPaidKeys(
  { violate }: World,
  isLateKey: LateOrders['isKeyOf'],
): (paymentId: string, reference: string) => void {
  const paid = new Map<string, string>();
  return (paymentId, reference) => {
    const { partnerId, idempotencyKey } = openReference(reference, references, paymentId as Id<'pay'>)!;
    const key = `${partnerId} ${idempotencyKey}`;
    const first = paid.get(key);
    if (first && !isLateKey({ partnerId, key: idempotencyKey }))
      violate('no idempotency key is paid twice', `${idempotencyKey}: ${first} and ${paymentId}`);
    paid.set(key, paymentId);
  };
}
