import { uuidFromId } from '../../base/ids.ts';
import { findValue, type Queryable, readRows, readValue } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { ShownRow } from '../payment.ts';

/** The ids of a month's payments: from the first one on, and before the other. */
export interface ArchivedMonth {
  firstId: string;
  beyondId: string;
}

/** The months of which an account has archived payments, newest first. */
const listMonths = (db: Queryable, { partnerId, mode }: AccountKey) =>
  readRows<ArchivedMonth>(db, {
    name: 'archived months',
    text: `SELECT archive_first_id(month) AS "firstId", archive_first_id((month + interval '1 month')::date) AS "beyondId"
             FROM archive_sums WHERE partner_id = $1 AND mode = $2 AND kind = 'payments' ORDER BY month DESC`,
    values: [uuidFromId(partnerId), mode],
  });

/**
 * Adds archived payments to a page of live ones, of which it has one row more than the limit. Month by month, until no
 * older one can be on the page: for one partition the planner follows the index, for many it sorts all rows of the
 * account. A payment that moves meanwhile may be read twice.
 */
export async function addArchived(
  db: Queryable,
  account: AccountKey,
  live: ShownRow[],
  { limit, order }: { limit: number; order: 'ASC' | 'DESC' },
  read: (month: ArchivedMonth) => Promise<ShownRow[]>,
): Promise<ShownRow[]> {
  const months = await listMonths(db, account);
  let page = live;
  for (const month of order === 'DESC' ? months : months.toReversed()) {
    const next = page[limit];
    if (next && (order === 'DESC' ? next.paymentId >= month.beyondId : next.paymentId < month.firstId)) break;
    const byId = new Map([...page, ...(await read(month))].map(row => [row.paymentId, row]));
    const sorted = [...byId.values()].sort((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
    page = (order === 'ASC' ? sorted : sorted.reverse()).slice(0, limit + 1);
  }
  return page;
}

/**
 * SQL: the newest payments, live and archived, that a condition on `p` holds for, each once. Each place is read with a condition and a
 * limit of its own: on Citus a condition outside of the union would bring all rows of the archive here. A payment that moves meanwhile
 * may be read in both.
 */
export const newestAnywhere = (condition: string, limit: number | string) => {
  const newestIn = (table: string) =>
    `(SELECT p.* FROM ${table} p WHERE ${condition} ORDER BY p.id DESC LIMIT ${limit})`;
  return `SELECT DISTINCT ON (u.id) u.* FROM (${newestIn('payments')} UNION ALL ${newestIn('payments_archive')}) AS u ORDER BY u.id DESC`;
};

/**
 * The newest archived event of an account; null if there is none. Most reads of the feed are of newer ones, and need not
 * look into the archive. Read it after the live events: they move only from there to the archive, so none is missed.
 */
export const lastArchivedEvent = (db: Queryable, { partnerId, mode }: AccountKey) =>
  readValue<bigint | null>(db, {
    name: 'last archived event',
    text: 'SELECT max(last_event_id) AS last FROM archive_sums WHERE partner_id = $1 AND mode = $2',
    values: [uuidFromId(partnerId), mode],
  });

/** The newest event that was pruned; null if there is none. A reader that has it has missed none. */
export async function lastPrunedEvent(db: Queryable, { partnerId, mode }: AccountKey) {
  if (mode !== 'test') return null;
  const last = await findValue<bigint | null>(db, {
    name: 'last pruned event',
    text: 'SELECT last_event_id FROM test_checkpoints WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  });
  return last ?? null;
}
