import { type Clock, instantOf } from '../../base/clock.ts';
import type { Id } from '../../base/ids.ts';
import { findRow, hasRow, type Queryable, readRows, readValue, withIds } from '../../db/postgres/index.ts';
import type { Payment } from '../payment.ts';

/** An incarnation whose database may have forgotten payments, while it is compared with the gateway. */
export interface RecoveringIncarnation {
  number: number;
  cause: string;
  beganAt: Date;
  /** What was committed before is here. */
  certainAt: Date;
  /** No acknowledged commit can be missing. */
  isSynchronous: boolean;
  /** When a foreign order closed it again. Null: never. */
  closedAt: Date | null;
}

/** The clock of the gateway may differ, and a payment is a little older than the order that follows it. */
const skewMs = 15 * 60_000;

/** Orders before that are known. */
export const firstListedAt = ({ certainAt }: { certainAt: Date }) => new Date(certainAt.getTime() - skewMs);

/** If the process dies, another goes on after so long. */
const claimMs = 10_000;

const columns = `number, cause, began_at AS "beganAt", certain_at AS "certainAt", is_synchronous AS "isSynchronous",
  closed_at AS "closedAt"`;

/** For one process at a time; the same process may repeat it to go on. Undefined: nothing to recover, or another does it. */
export const claimRecovery = (db: Queryable, clock: Clock, instance: number) =>
  findRow<RecoveringIncarnation>(db, {
    name: 'claim recovery of the history',
    text: `UPDATE incarnations SET claimed_by = $1, claimed_until = $3
            WHERE opened_at IS NULL AND (claimed_by = $1 OR claimed_until IS NULL OR claimed_until < $2)
           RETURNING ${columns}`,
    values: [instance, instantOf(clock), new Date(clock.nowMs() + claimMs)],
  });

/** One that has opened, while orders of another history may still arrive. */
export interface WatchedIncarnation {
  number: number;
  openedAt: Date;
  certainAt: Date;
  /** When the last complete list began; null if an earlier version opened it. */
  listedAt: Date | null;
  /** The newest order of the lists so far. */
  listedTo: Date | null;
}

const watchEveryMs = 10_000;

/** As `claimRecovery`, when it is time for the next list. */
export const claimWatch = (db: Queryable, clock: Clock, instance: number) =>
  findRow<WatchedIncarnation>(db, {
    name: 'claim the watch of the history',
    text: `UPDATE incarnations AS i SET claimed_by = $1, claimed_until = $3
            WHERE number = (SELECT max(number) FROM incarnations) AND incarnation_is_watched(i)
              AND (listed_at IS NULL OR listed_at <= $4)
              AND (claimed_by = $1 OR claimed_until IS NULL OR claimed_until < $2)
           RETURNING number, opened_at AS "openedAt", certain_at AS "certainAt", listed_at AS "listedAt",
                     listed_to AS "listedTo"`,
    values: [
      instance,
      instantOf(clock),
      new Date(clock.nowMs() + claimMs),
      new Date(clock.nowMs() - watchEveryMs),
    ],
  });

/** Payments wait again. False if they do already, or if it is not the current one any more. */
export const closeIncarnation = (db: Queryable, clock: Clock, number: number) =>
  hasRow(db, {
    text: `UPDATE incarnations SET opened_at = NULL, closed_at = $2
            WHERE number = $1 AND opened_at IS NOT NULL AND number = (SELECT max(number) FROM incarnations)`,
    values: [number, instantOf(clock)],
  });

/** The current incarnation, if payments still wait. */
export const findRecovering = (db: Queryable) =>
  findRow<RecoveringIncarnation>(db, {
    text: `SELECT ${columns} FROM incarnations WHERE opened_at IS NULL`,
  });

/** Payments are accepted from now on. False if another process has the claim by now. */
export const openIncarnation = (db: Queryable, clock: Clock, instance: number) =>
  hasRow(db, {
    text: `UPDATE incarnations SET opened_at = $2, claimed_by = NULL, claimed_until = NULL
            WHERE opened_at IS NULL AND claimed_by = $1`,
    values: [instance, instantOf(clock)],
  });

/** The list, or a part of it, was compared with the books. */
interface Listed {
  startedAt: Date;
  /** When the newest of its orders was created. Undefined: there was none. */
  newestAt: Date | undefined;
  isComplete: boolean;
}

/** The next list begins there. If the gateway's clock is ahead, our own time is how far it was read. */
export async function recordListed(
  db: Queryable,
  { number }: { number: number },
  { startedAt, newestAt, isComplete }: Listed,
): Promise<void> {
  const listedTo = newestAt && newestAt > startedAt ? startedAt : newestAt;
  await db.query({
    text: `UPDATE incarnations SET listed_at = coalesce($2, listed_at), listed_to = greatest(listed_to, $3)
            WHERE number = $1`,
    values: [number, isComplete ? startedAt : null, listedTo ?? null],
  });
}

export const newestOf = (orders: { createdAt: Date }[], before: Date | undefined) =>
  orders.reduce<Date | undefined>(
    (newest, { createdAt }) => (newest && newest > createdAt ? newest : createdAt),
    before,
  );

export const recordCount = (db: Queryable, { number }: RecoveringIncarnation, orders: number) =>
  db.query({
    text: 'UPDATE incarnations SET listed_orders = $2 WHERE number = $1',
    values: [number, orders],
  });

/** When an order was found last that was new to this database. Undefined: none was. */
export async function findLastFound(
  db: Queryable,
  { number }: RecoveringIncarnation,
): Promise<Date | undefined> {
  const at = await readValue<Date | null>(db, {
    text: `SELECT greatest((SELECT max(recovered_at) FROM recovered_payments WHERE incarnation = $1),
                           (SELECT max(found_at) FROM stray_orders WHERE incarnation = $1))`,
    values: [number],
  });
  return at ?? undefined;
}

/** An incarnation for people: what happened to the database, and what was brought back. */
export interface PastIncarnation extends RecoveringIncarnation {
  /** Null while it is compared with the gateway. */
  openedAt: Date | null;
  listedOrders: bigint;
  recoveredPayments: bigint;
  strayOrders: bigint;
}

/** The newest first. */
export const listIncarnations = (db: Queryable, limit = 20) =>
  readRows<PastIncarnation>(db, {
    text: `SELECT ${columns}, opened_at AS "openedAt", listed_orders AS "listedOrders",
                  (SELECT count(*) FROM recovered_payments r WHERE r.incarnation = i.number) AS "recoveredPayments",
                  (SELECT count(*) FROM stray_orders s WHERE s.incarnation = i.number AND s.released_at IS NULL)
                    AS "strayOrders"
             FROM incarnations i ORDER BY number DESC LIMIT $1`,
    values: [limit],
  });

/** As JSON, for the command line and the console. */
export const incarnationObject = (incarnation: PastIncarnation) => ({
  incarnation: incarnation.number,
  cause: incarnation.cause,
  began_at: incarnation.beganAt.toISOString(),
  certain_at: incarnation.certainAt.toISOString(),
  opened_at: incarnation.openedAt?.toISOString() ?? null,
  listed_orders: Number(incarnation.listedOrders),
  recovered_payments: Number(incarnation.recoveredPayments),
  stray_orders: Number(incarnation.strayOrders),
});

/** A payment that was rebuilt from an order of the gateway. */
interface RecoveredPayment {
  paymentId: Id<'pay'>;
  partner: string;
  amountKopecks: bigint;
  status: Payment['status'];
  recoveredAt: Date;
}

/** The newest first. */
export async function listRecovered(db: Queryable, limit: number): Promise<RecoveredPayment[]> {
  const rows = await readRows(db, {
    text: `SELECT p.id AS "paymentId", s.name AS partner, p.amount_kopecks AS "amountKopecks", p.status, r.recovered_at AS "recoveredAt"
             FROM (SELECT * FROM recovered_payments ORDER BY incarnation DESC, payment_id DESC LIMIT $1) AS r
             JOIN partners s ON s.id = r.partner_id
             CROSS JOIN LATERAL payment_anywhere(r.partner_id, r.mode, r.payment_id) AS p
            ORDER BY r.incarnation DESC, r.payment_id DESC`,
    values: [limit],
  });
  return rows.map(withIds<RecoveredPayment>({ paymentId: 'pay' }));
}
