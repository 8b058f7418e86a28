import type { Id } from '../../src/base/ids.ts';
import { openReference } from '../../src/payments/order-reference.ts';
import type { LateOrders } from './late-orders.ts';
import { references } from './references.ts';
import type { World } from './world.ts';

/**
 * Whatever the database forgets, the bank side pays at most one order per idempotency key: unless the first one was so late that
 * the partner has repeated its request before.
 */
export function createPaidKeys(
  { violate, trace }: World,
  isLateKey: LateOrders['isKeyOf'],
): (paymentId: string, reference: string) => void {
  const paid = new Map<string, string>();
  return (paymentId, reference) => {
    const { partnerId, idempotencyKey } = openReference(reference, references, paymentId as Id<'pay'>)!;
    const key = `${partnerId} ${idempotencyKey}`;
    const first = paid.get(key);
    if (first && !isLateKey({ partnerId, key: idempotencyKey }))
      violate(
        'no idempotency key is paid twice',
        `${idempotencyKey}: ${trace.nameOf(first)} and ${trace.nameOf(paymentId)}`,
      );
    paid.set(key, paymentId);
  };
}
