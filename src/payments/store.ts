import { type Clock, instantOf } from '../base/clock.ts';
import type { errors } from '../base/errors.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { createBatcher, oneTurn } from '../db/batch.ts';
import { mayBeOneItemsFault, type Queryable, repeatingAfterDeadlock } from '../db/pool.ts';
import { sharedRead } from '../db/shared-read.ts';
import type { AccountKey } from '../ledger/index.ts';
import { type FailureCode, type Payment, type PaymentRow, toPayment } from './payment.ts';

/** A payment as it shall be opened: what it will say of itself, and what is needed to decide. */
export interface Opening
  extends Omit<
    Payment,
    'status' | 'statusDetail' | 'gatewayOrderId' | 'errorCode' | 'createdAt' | 'settledAt'
  > {
  rateId: bigint;
  rateStaleAt: Date;
  nextAt: Date;
  /** The process that is busy with it; nobody, when only time can bring its outcome. */
  leaseHolder: number | null;
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
  /** False when the payment was finished already, by whomever, or when this cannot be its end. */
  changed: boolean;
  /** How it stands now. */
  standing: Payment['status'];
  at: Date;
}

export type Ending =
  | { outcome: 'succeeded'; orderId?: string }
  | { outcome: 'failed'; code: FailureCode; orderId?: string }
  | { outcome: 'rejected'; code: keyof typeof errors };

export type Finish = AccountKey & { paymentId: Id<'pay'> } & Ending;

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
  ['int', opening => opening.leaseHolder],
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

/** Ends payments in one statement, and so in one transaction; or as part of the one it is given. */
export async function finishAll(db: Queryable, clock: Clock, finishes: Finish[]): Promise<FinishResult[]> {
  const at = instantOf(clock);
  const { rows } = await db.query<Pick<FinishResult, 'changed' | 'standing'>>({
    name: 'payments_finish',
    text: 'SELECT changed, standing FROM payments_finish($1, $2, $3, $4, $5, $6, $7) ORDER BY item',
    values: [
      finishes.map(finish => uuidFromId(finish.partnerId)),
      finishes.map(finish => finish.mode),
      finishes.map(finish => uuidFromId(finish.paymentId)),
      finishes.map(finish => finish.outcome),
      finishes.map(finish => ('code' in finish ? finish.code : null)),
      finishes.map(finish => ('orderId' in finish ? finish.orderId : null)),
      at,
    ],
  });
  return rows.map(({ changed, standing }) => ({ changed, standing, at }));
}

/** The two writes that move money, for many callers at once. */
export interface PaymentWriter {
  open(opening: Opening): Promise<OpeningResult>;
  finish(finish: Finish): Promise<FinishResult>;
}

export function createPaymentWriter(db: Queryable, clock: Clock): PaymentWriter {
  const common = {
    mayBeOneItemsFault,
    laneOf: () => 0,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: oneTurn,
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

const findById = sharedRead(async (db, asked: (AccountKey & { paymentId: Id<'pay'> })[]) =>
  inOrder(
    asked.length,
    await db.query<PaymentRow & { item: number }>({
      name: 'find payments',
      text: `SELECT p.*, k.item::int FROM unnest($1::uuid[], $2::mode[], $3::uuid[])
                    WITH ORDINALITY AS k (partner_id, mode, id, item),
                    LATERAL (SELECT * FROM payments p
                              WHERE p.partner_id = k.partner_id AND p.mode = k.mode AND p.id = k.id LIMIT 1) AS p`,
      values: [...accountsOf(asked), asked.map(({ paymentId }) => uuidFromId(paymentId))],
    }),
  ),
);

export const findPayment = (db: Queryable, { partnerId, mode }: AccountKey, paymentId: Id<'pay'>) =>
  findById(db, { partnerId, mode, paymentId });

const findByKey = sharedRead(async (db, asked: (AccountKey & { key: string })[]) =>
  inOrder(
    asked.length,
    await db.query<PaymentRow & { item: number }>({
      name: 'find payments by key',
      text: `SELECT p.*, k.item::int FROM unnest($1::uuid[], $2::mode[], $3::text[])
                    WITH ORDINALITY AS k (partner_id, mode, key, item),
                    LATERAL (SELECT * FROM payments p WHERE p.idempotency_key = k.key AND NOT p.rejected
                                AND (p.partner_id, p.mode) IS NOT DISTINCT FROM (k.partner_id, k.mode) LIMIT 1) AS p`,
      values: [...accountsOf(asked), asked.map(({ key }) => key)],
    }),
  ),
);

export const findPaymentByKey = (db: Queryable, { partnerId, mode }: AccountKey, key: string) =>
  findByKey(db, { partnerId, mode, key });

const accountsOf = (asked: AccountKey[]) => [
  asked.map(({ partnerId }) => uuidFromId(partnerId)),
  asked.map(({ mode }) => mode),
];

/** What was found of so many that were asked for, each in its place. */
function inOrder(
  count: number,
  { rows }: { rows: (PaymentRow & { item: number })[] },
): (Payment | undefined)[] {
  const found = new Array<Payment | undefined>(count).fill(undefined);
  for (const row of rows) found[row.item - 1] = toPayment(row);
  return found;
}
