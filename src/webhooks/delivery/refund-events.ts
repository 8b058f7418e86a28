import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { RefundOfEvent } from './envelope.ts';

/** Null in all columns: the event is the end of its payment. */
export interface RefundColumns {
  refund_at: Date | null;
  refund_kopecks: bigint | null;
  refund_micro_usdt: bigint | null;
}

/** What the event of a refund needs; `alias` is the name of `refunds` in the statement. */
export const refundColumns = (alias: string) =>
  `${alias}.booked_at AS refund_at, ${alias}.total_kopecks AS refund_kopecks, ${alias}.total_micro_usdt AS refund_micro_usdt`;

export const refundOf = (row: RefundColumns): RefundOfEvent | undefined =>
  row.refund_at === null
    ? undefined
    : { at: row.refund_at, total: { kopecks: row.refund_kopecks!, microUsdt: row.refund_micro_usdt! } };

/** The refund of an event; undefined if it is the end of a payment. */
export async function findRefundOf(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  eventId: bigint,
): Promise<RefundOfEvent | undefined> {
  const { rows } = await db.query<RefundColumns>({
    text: `SELECT ${refundColumns('r')} FROM refunds r WHERE r.partner_id = $1 AND r.mode = $2 AND r.event_id = $3`,
    values: [uuidFromId(partnerId), mode, eventId],
  });
  return rows[0] && refundOf(rows[0]);
}
