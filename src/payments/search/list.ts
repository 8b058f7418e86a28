import { type Id, minUuidAt, uuidFromId } from '../../base/ids.ts';
import type { Queryable, Statement } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type Payment, type PaymentRow, type PaymentStatus, toPayment } from '../payment.ts';

/** A partner's payments with this external id, in both modes, newest first. */
export async function findByExternalId(
  db: Queryable,
  partnerId: Id<'prt'>,
  externalId: string,
  limit: number,
): Promise<Payment[]> {
  // PostgreSQL stores no NUL, and rejects a query with one.
  if (externalId.includes('\0')) return [];
  const { rows } = await db.query<PaymentRow>({
    text: `SELECT * FROM payments WHERE external_id = $2 AND partner_id = $1 AND NOT rejected
            ORDER BY id DESC LIMIT $3`,
    values: [uuidFromId(partnerId), externalId, limit],
  });
  return rows.map(toPayment);
}

export interface Page {
  payments: Payment[];
  hasMore: boolean;
}

export interface ListFilter {
  limit: number;
  startingAfter?: Id<'pay'> | undefined;
  status?: PaymentStatus | undefined;
  externalId?: string | undefined;
  /** From this moment on. */
  createdFrom?: Date | undefined;
  /** Before this moment. */
  createdBefore?: Date | undefined;
}

/** How much the time in an id may differ from `created_at`: it is created earlier, and clocks are adjusted. */
const idSkewMs = 600_000;

/**
 * Newest first. Ids grow with time, so a page that starts after an id does not change while payments are added. A period
 * is a range of ids, within the skew, so no index by time is needed.
 */
export async function listPayments(db: Queryable, account: AccountKey, filter: ListFilter): Promise<Page> {
  const { limit } = filter;
  const { rows } = await db.query<PaymentRow>(listStatement(account, filter));
  return { payments: rows.slice(0, limit).map(toPayment), hasMore: rows.length > limit };
}

/** Has only the conditions that are set, so that the planner can choose the index for them. */
export function listStatement({ partnerId, mode }: AccountKey, filter: ListFilter): Statement {
  const { limit, startingAfter, status, externalId, createdFrom, createdBefore } = filter;
  const values: unknown[] = [uuidFromId(partnerId), mode, limit + 1];
  const $ = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    'partner_id = $1 AND mode = $2 AND NOT rejected',
    ...(startingAfter ? [`id < ${$(uuidFromId(startingAfter))}`] : []),
    ...(status ? [`status = ${$(status)}`] : []),
    ...(externalId === undefined ? [] : [`external_id = ${$(externalId)}`]),
    ...(createdFrom
      ? [`created_at >= ${$(createdFrom)} AND id >= ${$(minUuidAt(createdFrom.getTime() - idSkewMs))}`]
      : []),
    ...(createdBefore
      ? [`created_at < ${$(createdBefore)} AND id < ${$(minUuidAt(createdBefore.getTime() + idSkewMs))}`]
      : []),
  ];
  return {
    text: `SELECT * FROM payments WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT $3`,
    values,
  };
}

/** The page before the one that starts with `than`, also newest first; `hasMore` means that there are still newer ones. */
export async function listNewerPayments(
  db: Queryable,
  account: AccountKey,
  { limit, than, status }: { limit: number; than: Id<'pay'>; status?: PaymentStatus },
): Promise<Page> {
  const { rows } = await db.query<PaymentRow>({
    text: `SELECT * FROM payments
            WHERE partner_id = $1 AND mode = $2 AND NOT rejected
              AND id > $3 AND ($4::payment_status IS NULL OR status = $4)
            ORDER BY id LIMIT $5`,
    values: [uuidFromId(account.partnerId), account.mode, uuidFromId(than), status ?? null, limit + 1],
  });
  const payments = rows.slice(0, limit).map(toPayment).reverse();
  return { payments, hasMore: rows.length > limit };
}
