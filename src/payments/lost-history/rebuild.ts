import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, parseId, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readValues, type Statement } from '../../db/postgres/index.ts';
import type { Sealer } from '../../db/secrets/index.ts';
import type { ListedOrder } from '../../gateway/index.ts';
import { openingArray, openingValues } from '../openings.ts';
import { openReference, type ReferencedPayment } from '../order-reference.ts';

/** Why an order could not become a payment. */
export type StrayReason = 'unreadable' | 'no_account' | 'key_taken' | 'qr_in_flight' | 'insufficient_balance';

export interface Rebuilt {
  order: ListedOrder;
  /** Undefined if the reference cannot be read. */
  payment: ReferencedPayment | undefined;
  verdict: 'recovered' | 'known' | StrayReason;
}

/** The orders that this database has no payment for, and that no operator has released. */
export async function findForgotten(db: Queryable, orders: ListedOrder[]): Promise<ListedOrder[]> {
  // An order that was voided before it was accepted has paid nothing and never will.
  const possible = orders.filter(({ state }) => state !== 'voided');
  const ids = possible.map(({ paymentId }) => parseId('pay', paymentId));
  const known = await readKnown(db, {
    text: `SELECT o.payment AS known FROM unnest($1::text[], $2::uuid[]) AS o (payment, id)
            WHERE EXISTS (SELECT FROM payment_of_anyone('live', o.id))
               OR EXISTS (SELECT FROM stray_orders s WHERE s.payment = o.payment AND s.released_at IS NOT NULL)`,
    values: [possible.map(({ paymentId }) => paymentId), ids.map(id => (id ? uuidFromId(id) : null))],
  });
  return possible.filter(({ paymentId }) => !known.has(paymentId));
}

/**
 * Those that a recovery would count as new: no payment here, not even a rejected one, and not set aside. Few are left to
 * ask for by their partner.
 */
export async function findUnrecorded(
  { db, references }: Pick<RebuildDeps, 'db' | 'references'>,
  orders: ListedOrder[],
): Promise<ListedOrder[]> {
  const forgotten = await findForgotten(db, orders);
  if (forgotten.length === 0) return [];
  const payments = forgotten.map(order => readReference(order, references));
  const known = await readKnown(db, {
    text: `SELECT o.payment AS known FROM unnest($1::text[], $2::uuid[], $3::uuid[]) AS o (payment, partner_id, id)
            WHERE EXISTS (SELECT FROM stray_orders s WHERE s.payment = o.payment)
               OR EXISTS (SELECT FROM payment_anywhere(o.partner_id, 'live', o.id))`,
    values: [
      forgotten.map(({ paymentId }) => paymentId),
      payments.map(payment => (payment ? uuidFromId(payment.partnerId) : null)),
      payments.map(payment => (payment ? uuidFromId(payment.paymentId) : null)),
    ],
  });
  return forgotten.filter(({ paymentId }) => !known.has(paymentId));
}

const readKnown = async (db: Queryable, statement: Statement) =>
  new Set(await readValues<string>(db, statement));

interface RebuildDeps {
  db: Queryable;
  clock: Clock;
  references: Sealer;
}

/** Brings the payments of forgotten orders back, as far as that is possible. A repeat changes nothing. */
export async function rebuild(
  deps: RebuildDeps,
  incarnation: number,
  orders: ListedOrder[],
): Promise<Rebuilt[]> {
  const read = orders.map(order => ({ order, payment: readReference(order, deps.references) }));
  const readable = read.flatMap(({ order, payment }) => (payment ? { order, payment } : []));
  const verdicts = await recover(deps, incarnation, readable);
  const verdictOf = new Map(readable.map(({ order }, nth) => [order, verdicts[nth]!]));
  return read.map(({ order, payment }) => ({
    order,
    payment,
    verdict: verdictOf.get(order) ?? 'unreadable',
  }));
}

interface Readable {
  order: ListedOrder;
  payment: ReferencedPayment;
}

/** The amount must be the one that the gateway pays: otherwise people must look at it. */
function readReference(order: ListedOrder, references: Sealer): ReferencedPayment | undefined {
  const paymentId: Id<'pay'> | undefined = parseId('pay', order.paymentId);
  if (!paymentId || order.reference === null) return undefined;
  const payment = openReference(order.reference, references, paymentId);
  return payment?.mode === 'live' && payment.amountKopecks === order.amountKopecks ? payment : undefined;
}

export const isReadable = (order: ListedOrder, references: Sealer): boolean =>
  readReference(order, references) !== undefined;

async function recover(
  { db, clock }: RebuildDeps,
  incarnation: number,
  items: Readable[],
): Promise<Rebuilt['verdict'][]> {
  if (items.length === 0) return [];
  const now = instantOf(clock);
  const payments = items.map(({ payment }) => ({
    ...payment,
    rateStaleAt: now,
    nextAt: now,
    leaseHolder: null,
  }));
  const openings = openingValues(payments);
  const next = (nth: number) => `$${openings.length + nth}`;
  return readValues<Rebuilt['verdict']>(db, {
    text: `SELECT verdict FROM payments_recover(${openingArray(1)}, ${next(1)}, ${next(2)}, ${next(3)}, ${next(4)}, ${next(5)})
            ORDER BY item`,
    values: [
      ...openings,
      payments.map(({ createdAt }) => createdAt),
      items.map(({ order }) => order.orderId),
      items.map(({ order }) => order.state),
      incarnation,
      now,
    ],
  });
}
