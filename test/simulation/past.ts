import type { Id } from '../../src/base/ids.ts';
import { createReferenceSealer, openReference } from '../../src/payments/order-reference.ts';
import { keyring } from '../helpers/partners.ts';
import type { BookedPayment, Books } from './books.ts';
import type { World } from './world.ts';

/** What a history of the database begins with: the first of a run. */
export const noPast = () => ({
  books: {
    ...{ payments: [], accounts: [], alarms: [] },
    open: { dueMs: null, leaseHolders: [] },
  } as Books,
  endedByOperator: new Set<string>(),
  /** Payments that were rebuilt from their orders. */
  rebuilt: new Set<string>(),
  /** What the operator has credited, by partner: the bank side does not know it. */
  topUps: new Map<string, number>(),
  /** What was returned of their payments, by partner. */
  refunded: new Map<string, number>(),
  /** Partners remember what they have seen, whatever the database forgets. */
  reported: new Set<string>(),
  /** A payment of a history that was lost. One that it had undone is voided when it is undone again. */
  findLost: (_paymentId: string): BookedPayment | undefined => undefined,
});
export type Past = ReturnType<typeof noPast>;

export function createEventIds({ violate }: World) {
  const paymentOf = new Map<string, string>();
  return {
    check: (payments: Pick<BookedPayment, 'paymentId' | 'eventId'>[]) => {
      for (const { paymentId, eventId } of payments) {
        if (eventId === null) continue;
        const first = paymentOf.get(eventId) ?? paymentId;
        paymentOf.set(eventId, first);
        if (first !== paymentId)
          violate('no event id names two payments', `event ${eventId}: ${first} and ${paymentId}`);
      }
    },
  };
}

/** The event ids of a whole run, also of histories that were lost: partners may have got any of them. */
export type EventIds = ReturnType<typeof createEventIds>;

/** From the loss on. A process notices within 5 s, sends an order at most 10 s after its debit, and that takes 5 s. */
const waitedForMs = 20_000;
/** Without faults: some process has started or goes on after a stall, and lists every 10 s. */
const foundWithinMs = 300_000;

export function createLateOrders(
  world: World,
  /** It is a payment or on record. */
  isFound: (paymentId: string) => boolean,
) {
  const { scheduler, trace } = world;
  const keys = new Set<string>();
  const arrivals = new Map<string, number>();
  const keyOf = ({ partnerId, key }: Pick<BookedPayment, 'partnerId' | 'key'>) => `${partnerId} ${key}`;

  return {
    /** The bank side has accepted an order of a history that was lost at that time. */
    arrived: (payment: BookedPayment, lostMs: number) => {
      if (scheduler.nowMs() < lostMs + waitedForMs) return;
      trace.add('bank', `${payment.paymentId} is late`);
      keys.add(keyOf(payment));
      arrivals.set(payment.paymentId, scheduler.nowMs());
    },
    /** An order of its key was late: a repeat of the request that came first has made another payment. */
    isKeyOf: (payment: Pick<BookedPayment, 'partnerId' | 'key'>) => keys.has(keyOf(payment)),
    /** Each is a payment by now, or on record as an order without one. Without faults that takes no longer than it may. */
    checkFound: () => {
      const missing = [...arrivals].filter(([paymentId]) => !isFound(paymentId));
      const { faultsStoppedMs = Number.POSITIVE_INFINITY } = world;
      for (const [paymentId, arrivedMs] of missing)
        if (scheduler.nowMs() > Math.max(arrivedMs, faultsStoppedMs) + foundWithinMs)
          world.violate('a late order of a lost history is found', paymentId);
      return missing.length === 0;
    },
  };
}

/** Orders of a lost history that reach the bank side when the next one does not wait for them any more. */
export type LateOrders = ReturnType<typeof createLateOrders>;

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
