import { type Id, maxUuid, minUuid, minUuidAt, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRows, type Statement } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type ArchivedMonth, addArchived, newestAnywhere } from '../archive/pages.ts';
import {
  type Payment,
  type PaymentRow,
  type PaymentStatus,
  paymentColumns,
  type ShownPayment,
  type ShownRow,
  shownColumns,
  toPayment,
  toShownPayment,
} from '../payment.ts';

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
    text: `SELECT ${paymentColumns('p')}
             FROM (${newestAnywhere('p.external_id = $2 AND p.partner_id = $1 AND NOT p.rejected', '$3')}) AS p
            ORDER BY p.id DESC LIMIT $3`,
    values: [uuidFromId(partnerId), externalId, limit],
  });
  return rows.map(toPayment);
}

export interface Page {
  payments: ShownPayment[];
  hasMore: boolean;
}

interface ListedPage extends Page {
  /** False: no payment of the account was refunded. */
  mayHaveRefunds: boolean;
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
export async function listPayments(
  db: Queryable,
  account: AccountKey,
  filter: ListFilter,
): Promise<ListedPage> {
  const { limit, status } = filter;
  const read = async (month?: ArchivedMonth) =>
    (await db.query<ListedRow>(listStatement(account, filter, month))).rows;
  const live = await read();
  const isComplete = status === 'processing' || live[0]?.has_archived === false;
  const rows = isComplete ? live : await addArchived(db, account, live, { limit, order: 'DESC' }, read);
  const mayHaveRefunds = live[0]?.has_refunds !== false;
  const payments = rows.slice(0, limit).map(toShownPayment);
  return { payments, hasMore: rows.length > limit, mayHaveRefunds };
}

/**
 * Whether the account had archived payments in the snapshot of the statement: if not, the page is complete. And whether it had
 * refunds: most have none, and then nobody looks for those of each payment.
 */
type ListedRow = ShownRow & { has_archived?: boolean; has_refunds?: boolean };
const ofAccount = `(SELECT EXISTS (SELECT FROM archive_sums s
    WHERE s.partner_id = $1 AND s.mode = $2 AND s.kind = 'payments')) AS has_archived,
  (SELECT EXISTS (SELECT FROM refunds r WHERE r.partner_id = $1 AND r.mode = $2)) AS has_refunds`;

/** With a month, for the archived payments of that month. */
export function listStatement(account: AccountKey, filter: ListFilter, month?: ArchivedMonth): Statement {
  const { limit, startingAfter, externalId, createdFrom, createdBefore } = filter;
  const from = [
    createdFrom ? minUuidAt(createdFrom.getTime() - idSkewMs) : minUuid,
    ...(month ? [month.firstId] : []),
  ]
    .sort()
    .at(-1);
  const [before] = [
    maxUuid,
    ...(startingAfter ? [uuidFromId(startingAfter)] : []),
    ...(createdBefore ? [minUuidAt(createdBefore.getTime() + idSkewMs)] : []),
    ...(month ? [month.beyondId] : []),
  ].sort();
  const values: unknown[] = [uuidFromId(account.partnerId), account.mode, limit + 1, from, before];
  const $ = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    'NOT p.rejected',
    ...(externalId === undefined ? [] : [`p.external_id = ${$(externalId)}`]),
    ...(createdFrom ? [`p.created_at >= ${$(createdFrom)}`] : []),
    ...(createdBefore ? [`p.created_at < ${$(createdBefore)}`] : []),
  ];
  const isPlain = !month && filter.status === undefined && conditions.length === 1;
  return isPlain
    ? { ...plainPage, values }
    : { text: pageOf(sourceOf(month), filter, conditions, 'DESC'), values };
}

/** The page without a filter, which almost every list is: planned once per connection. */
const plainPage = {
  name: 'payments_page',
  text: `SELECT ${shownColumns('p')}, ${ofAccount} FROM payments_page($1, $2, $4, $5, $3) p`,
};

const sourceOf = (month?: ArchivedMonth) => (month ? 'payments_archive' : 'payments');

/**
 * At most $3 payments of the partner $1 in the mode $2, with ids from $4 on and before $5. Reads one range of one index:
 *
 * - With an external id, those that have it.
 * - Under way: the rows of `open_payments`. OFFSET 0 makes the planner begin with them.
 * - Failed: an index of payments with an error code. An index with the status would do for all, but then every payment
 *   that finishes would be written to all indexes again (no HOT update).
 * - All, and succeeded, which most are: the primary key. Only it has the order by all three columns, which must therefore
 *   not be compared with `=`: with the order by id alone, the planner may read the newest payments of all partners. The
 *   range of ids alone adds nothing, but the planner can estimate it; without it, it may read the whole table.
 */
function pageOf(
  source: ReturnType<typeof sourceOf>,
  { status, externalId }: Pick<ListFilter, 'status' | 'externalId'>,
  conditions: string[],
  order: 'ASC' | 'DESC',
): string {
  const columns = `${shownColumns('p')}${source === 'payments' ? `, ${ofAccount}` : ''}`;
  const where = [...conditions, ...(status ? [statusConditions[status]] : [])].join(' AND ');
  const own = 'p.partner_id = $1 AND p.mode = $2';
  if (externalId === undefined && status === 'processing')
    return `SELECT ${columns} FROM open_payments o
             CROSS JOIN LATERAL (SELECT * FROM payments p WHERE ${own} AND p.id = o.payment_id AND ${where} OFFSET 0) AS p
             WHERE o.partner_id = $1 AND o.mode = $2 AND o.payment_id >= $4 AND o.payment_id < $5
             ORDER BY o.payment_id ${order} LIMIT $3`;
  // Statistics of the archive are those of a closed month, and Citus finds the worker by the partner alone.
  if (externalId !== undefined || source === 'payments_archive')
    return `SELECT ${columns} FROM ${source} p WHERE ${own} AND p.id >= $4 AND p.id < $5 AND ${where}
             ORDER BY p.id ${order} LIMIT $3`;
  return `SELECT ${columns} FROM ${source} p
           WHERE (p.partner_id, p.mode, p.id) >= ($1, $2, $4) AND (p.partner_id, p.mode, p.id) < ($1, $2, $5)
             AND p.id >= $4 AND p.id < $5 AND ${where}
           ORDER BY p.partner_id ${order}, p.mode ${order}, p.id ${order} LIMIT $3`;
}

/** A payment that failed is one with an error code, since rejected attempts are excluded. */
const statusConditions: Record<PaymentStatus, string> = {
  processing: `p.status = 'processing'`,
  succeeded: `p.status = 'succeeded'`,
  failed: 'p.error_code IS NOT NULL',
};

/** The page before the one that starts with `than`, also newest first; `hasMore` means that there are still newer ones. */
export async function listNewerPayments(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  { limit, than, status }: { limit: number; than: Id<'pay'>; status?: PaymentStatus },
): Promise<Page> {
  const thanId = uuidFromId(than);
  const read = async (month?: ArchivedMonth) => {
    const [, from] = [thanId, month?.firstId ?? minUuid].sort();
    return readRows<ShownRow>(db, {
      text: pageOf(sourceOf(month), { status }, ['NOT p.rejected', 'p.id <> $6'], 'ASC'),
      values: [uuidFromId(partnerId), mode, limit + 1, from, month?.beyondId ?? maxUuid, thanId],
    });
  };
  const rows = await addArchived(db, { partnerId, mode }, await read(), { limit, order: 'ASC' }, read);
  const payments = rows.slice(0, limit).map(toShownPayment).reverse();
  return { payments, hasMore: rows.length > limit };
}
