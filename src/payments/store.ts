import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { createBatcher } from '../db/batch.ts';
import { mayBeOneItemsFault, type Queryable, repeatingAfterDeadlock } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import { type FailureCode, type Payment, type PaymentRow, type PaymentStatus, toPayment } from './payment.ts';

export interface Owner {
  partnerId: Id<'prt'>;
  mode: Mode;
}

/** A payment as it shall be opened: what it will say of itself, and what is needed to decide. */
export interface Opening
  extends Omit<
    Payment,
    'status' | 'statusDetail' | 'gatewayOrderId' | 'errorCode' | 'createdAt' | 'settledAt'
  > {
  rateId: bigint;
  rateStaleAt: Date;
  nextAt: Date;
}

export interface OpeningResult {
  verdict:
    | 'opened'
    | 'known'
    | 'rate_unavailable'
    | 'duplicate_qr_in_flight'
    | 'gateway_busy'
    | 'daily_limit_exceeded'
    | 'insufficient_balance'
    | 'no_account';
  /** Of what was opened, or is known by this key. */
  paymentId: Id<'pay'> | undefined;
  balanceMicroUsdt: bigint;
  at: Date;
}

export interface FinishResult {
  /** False when the payment was finished already, by whomever. */
  changed: boolean;
  at: Date;
}

export type Finish = Owner & { paymentId: Id<'pay'>; orderId?: string } & (
    | { outcome: 'succeeded' }
    | { outcome: 'failed'; code: FailureCode }
    | { outcome: 'rejected'; code: string }
  );

/** The columns of the type `payment_opening` in the database, in its order, and where each comes from. */
const openingColumns: [type: string, read: (opening: Opening) => unknown][] = [
  ['uuid', opening => uuidFromId(opening.partnerId)],
  ['mode', opening => opening.mode],
  ['uuid', opening => uuidFromId(opening.paymentId)],
  ['text', opening => opening.idempotencyKey],
  ['bytea', opening => opening.requestHash],
  ['text', opening => opening.externalId],
  ['text', opening => opening.qrcId],
  ['text', opening => opening.qrUrl],
  ['text', opening => opening.fingerprint],
  ['text', opening => opening.recipient],
  ['bigint', opening => opening.amountKopecks],
  ['bigint', opening => opening.microUsdt],
  ['bigint', opening => opening.rateE4],
  ['bigint', opening => opening.rateId],
  ['timestamptz', opening => opening.rateStaleAt],
  ['text', opening => opening.metadata],
  ['timestamptz', opening => opening.nextAt],
];

const openStatement = `
  SELECT verdict, payment_id, balance
    FROM payments_open(ARRAY(SELECT o::payment_opening FROM unnest(${openingColumns
      .map(([type], index) => `$${index + 2}::${type}[]`)
      .join(', ')}) AS o), $1)
   ORDER BY item`;

async function openAll(db: Queryable, clock: Clock, openings: Opening[]): Promise<OpeningResult[]> {
  const at = instantOf(clock);
  const { rows } = await db.query<{
    verdict: OpeningResult['verdict'];
    payment_id: string | null;
    balance: bigint;
  }>({
    name: 'payments_open',
    text: openStatement,
    values: [at, ...openingColumns.map(([, read]) => openings.map(read))],
  });
  return rows.map(row => ({
    verdict: row.verdict,
    paymentId: row.payment_id === null ? undefined : idFromUuid('pay', row.payment_id),
    balanceMicroUsdt: row.balance,
    at,
  }));
}

async function finishAll(db: Queryable, clock: Clock, finishes: Finish[]): Promise<FinishResult[]> {
  const at = instantOf(clock);
  const { rows } = await db.query<{ changed: boolean }>({
    name: 'payments_finish',
    text: 'SELECT changed FROM payments_finish($1, $2, $3, $4, $5, $6, $7) ORDER BY item',
    values: [
      finishes.map(finish => uuidFromId(finish.partnerId)),
      finishes.map(finish => finish.mode),
      finishes.map(finish => uuidFromId(finish.paymentId)),
      finishes.map(finish => finish.outcome),
      finishes.map(finish => ('code' in finish ? finish.code : null)),
      finishes.map(finish => finish.orderId ?? null),
      at,
    ],
  });
  return rows.map(({ changed }) => ({ changed, at }));
}

/** The two writes that move money, for many callers at once. */
export interface PaymentWriter {
  open(opening: Opening): Promise<OpeningResult>;
  finish(finish: Finish): Promise<FinishResult>;
}

export function createPaymentWriter(db: Queryable, clock: Clock): PaymentWriter {
  const common = {
    mayBeOneItemsFault,
    laneOf: ({ partnerId }: Owner) => partnerId.charCodeAt(partnerId.length - 1) % 2,
    maxBatch: 256,
    maxWaiting: 5_000,
  };
  return {
    open: createBatcher<Opening, OpeningResult>({
      ...common,
      run: openings => repeatingAfterDeadlock(() => openAll(db, clock, openings)),
    }),
    finish: createBatcher<Finish, FinishResult>({
      ...common,
      run: finishes => repeatingAfterDeadlock(() => finishAll(db, clock, finishes)),
    }),
  };
}

export async function findPayment(
  db: Queryable,
  owner: Owner,
  paymentId: Id<'pay'>,
): Promise<Payment | undefined> {
  const { rows } = await db.query<PaymentRow>({
    name: 'find payment',
    text: 'SELECT * FROM payments WHERE partner_id = $1 AND mode = $2 AND id = $3',
    values: [uuidFromId(owner.partnerId), owner.mode, uuidFromId(paymentId)],
  });
  return rows[0] && toPayment(rows[0]);
}

export async function findPaymentByKey(
  db: Queryable,
  owner: Owner,
  key: string,
): Promise<Payment | undefined> {
  const { rows } = await db.query<PaymentRow>({
    name: 'find payment by key',
    text: `SELECT * FROM payments
            WHERE idempotency_key = $3 AND NOT rejected AND (partner_id, mode) IS NOT DISTINCT FROM ($1::uuid, $2::mode)`,
    values: [uuidFromId(owner.partnerId), owner.mode, key],
  });
  return rows[0] && toPayment(rows[0]);
}

export interface Page {
  payments: Payment[];
  hasMore: boolean;
}

/** Newest first. Ids grow with time, so a page that starts after one of them stays the same while others are added. */
export async function listPayments(
  db: Queryable,
  owner: Owner,
  { limit, startingAfter, status }: { limit: number; startingAfter?: Id<'pay'>; status?: PaymentStatus },
): Promise<Page> {
  const { rows } = await db.query<PaymentRow>({
    name: 'list payments',
    text: `SELECT * FROM payments
            WHERE partner_id = $1 AND mode = $2 AND NOT rejected
              AND ($3::uuid IS NULL OR id < $3) AND ($4::payment_status IS NULL OR status = $4)
            ORDER BY id DESC LIMIT $5`,
    values: [
      uuidFromId(owner.partnerId),
      owner.mode,
      startingAfter ? uuidFromId(startingAfter) : null,
      status ?? null,
      limit + 1,
    ],
  });
  return { payments: rows.slice(0, limit).map(toPayment), hasMore: rows.length > limit };
}

/** The gateway took the order and will finish it later, or gave no final answer: look again then. */
export async function lookAgain(
  db: Queryable,
  payment: Owner & { paymentId: Id<'pay'> },
  { at, orderId, review }: { at: Date; orderId?: string; review: boolean },
): Promise<void> {
  await db.query({
    // The payment first and then its open row, as finishing does: one order of locks.
    text: `WITH unfinished AS (
             UPDATE payments
                SET gateway_order_id = coalesce($6, gateway_order_id),
                    status_detail = CASE WHEN $5 THEN 'manual_review' ELSE status_detail END
              WHERE partner_id = $1 AND mode = $2 AND id = $3 AND status = 'processing'
             RETURNING id)
           UPDATE open_payments SET next_at = $4, awaiting_gateway = awaiting_gateway AND NOT $5
            WHERE partner_id = $1 AND mode = $2 AND payment_id = (SELECT id FROM unfinished)`,
    values: [
      uuidFromId(payment.partnerId),
      payment.mode,
      uuidFromId(payment.paymentId),
      at,
      review,
      orderId ?? null,
    ],
  });
}

export interface DuePayment extends Owner {
  paymentId: Id<'pay'>;
  amountKopecks: bigint;
  tries: number;
}

/** Takes payments whose time has come, so that no other process looks at them before `until`. */
export async function claimDue(
  db: Queryable,
  clock: Clock,
  until: Date,
  limit: number,
): Promise<DuePayment[]> {
  const { rows } = await db.query<{
    partner_id: string;
    mode: Mode;
    payment_id: string;
    amount_kopecks: bigint;
    tries: number;
  }>({
    name: 'claim due payments',
    text: `UPDATE open_payments p SET next_at = $2, tries = p.tries + 1
             FROM (SELECT scope, qrc_id FROM open_payments WHERE next_at <= $1
                    ORDER BY next_at LIMIT $3 FOR UPDATE SKIP LOCKED) AS due
            WHERE p.scope = due.scope AND p.qrc_id = due.qrc_id
           RETURNING p.partner_id, p.mode, p.payment_id, p.tries,
                     (SELECT amount_kopecks FROM payments
                       WHERE partner_id = p.partner_id AND mode = p.mode AND id = p.payment_id)`,
    values: [instantOf(clock), until, limit],
  });
  return rows.map(row => ({
    partnerId: idFromUuid('prt', row.partner_id),
    mode: row.mode,
    paymentId: idFromUuid('pay', row.payment_id),
    amountKopecks: row.amount_kopecks,
    tries: row.tries,
  }));
}
