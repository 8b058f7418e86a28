import type { Id } from '../../src/base/ids.ts';
import { openReference } from '../../src/payments/order-reference.ts';
import { referenceKey } from './references.ts';
import type { World } from './world.ts';

/** Whatever the database forgets, the bank side pays at most one order per idempotency key. */
export function createPaidKeys({ violate, trace }: World): (paymentId: string, reference: string) => void {
  const paid = new Map<string, string>();
  return (paymentId, reference) => {
    const { partnerId, idempotencyKey } = openReference(reference, referenceKey, paymentId as Id<'pay'>)!;
    const key = `${partnerId} ${idempotencyKey}`;
    const first = paid.get(key);
    if (first)
      violate(
        'no idempotency key is paid twice',
        `${idempotencyKey}: ${trace.nameOf(first)} and ${trace.nameOf(paymentId)}`,
      );
    paid.set(key, paymentId);
  };
}
