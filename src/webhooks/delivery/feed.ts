import { uuidFromId } from '../../base/ids.ts';
import { type Queryable, readValue } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import {
  lastArchivedEvent,
  lastPrunedEvent,
  type PaymentRow,
  paymentColumns,
  toPayment,
} from '../../payments/index.ts';
import { type Event, findRefundOf, type RefundColumns, refundColumns, refundOf } from './envelope.ts';

/**
 * Oldest first. The ids of one partner and mode are in the order of commit, so a reader never misses a late commit.
 * Undefined if `after` is not an event of this partner and mode; 0 is the beginning. A number that a lost history may have
 * given out stands for the end of that history: what was rebuilt follows. Of pruned events, only the newest may be given:
 * after an older one the reader would miss some. Refunds are listed only for a reader that asks for them; their ids are
 * positions for every reader.
 */
export async function listEvents(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  { after, limit, withRefunds = false }: { after: bigint; limit: number; withRefunds?: boolean },
) {
  const read = (prefix: '' | 'all_') =>
    db.query<EventRow>({
      name: `list ${prefix}events${withRefunds ? ' and refunds' : ''}`,
      text: withRefunds ? withRefundsIn(prefix) : withoutRefundsIn(prefix),
      // Two more than the page: the event of the cursor itself, and one that shows whether there are more.
      values: [uuidFromId(partnerId), mode, after, limit + 2],
    });
  const live = await read('');
  const archived = await lastArchivedEvent(db, { partnerId, mode });
  const { rows } = archived === null || after > archived ? live : await read('all_');
  if (after > 0n && rows[0]?.event_id === after) rows.shift();
  else if (after > 0n && !(await isLostEvent(db, after))) {
    const pruned = await lastPrunedEvent(db, { partnerId, mode });
    if (after !== pruned && !(await findRefundOf(db, { partnerId, mode }, after))) return undefined;
  }
  const shown = rows.slice(0, limit);
  return {
    events: shown.flatMap(row => (row.paymentId === null ? [] : toEvent(row))),
    hasMore: rows.length > limit,
    /** Where the next page begins. It may be past the last event: refunds of dropped payments have a number and cannot be listed. */
    cursor: shown.at(-1)?.event_id ?? after,
  };
}

type ListedRow = PaymentRow & { event_id: bigint } & RefundColumns;
type EventRow = ListedRow | ({ [Column in keyof PaymentRow]: null } & { event_id: bigint } & RefundColumns);

const toEvent = (row: ListedRow): Event => ({
  eventId: row.event_id,
  payment: toPayment(row),
  refund: row.refund_at ? refundOf(row) : undefined,
});

const endsIn = (prefix: '' | 'all_') => {
  const live = `SELECT partner_id, mode, id, payment_id, NULL::text AS refund_id FROM events
    WHERE partner_id = $1 AND mode = $2 AND id >= $3 ORDER BY id LIMIT $4`;
  return prefix === ''
    ? live
    : `SELECT * FROM ((${live}) UNION ALL
         SELECT partner_id, mode, id, payment_id, NULL FROM archived_events_from($1, $2, $3, $4)) AS a ORDER BY id LIMIT $4`;
};

/** The payment of a live event, looked up in the same way for each: it is live too. */
const livePayment = `LEFT JOIN LATERAL (SELECT * FROM payments p WHERE p.partner_id = e.partner_id
  AND p.mode = e.mode AND p.id = e.payment_id LIMIT 1) AS p ON true`;
/** Together, so that the archive is asked once. */
const anyPayment =
  'LEFT JOIN payments_anywhere($1, $2, ARRAY(SELECT payment_id FROM e)) AS p ON p.id = e.payment_id';

const withoutRefundsIn = (prefix: '' | 'all_') => `
  WITH e AS ${prefix === '' ? '' : 'MATERIALIZED '}(${endsIn(prefix)})
  SELECT ${paymentColumns('p')}, e.id AS event_id, NULL AS refund_at
    FROM e ${prefix === '' ? livePayment : anyPayment} ORDER BY e.id`;

/** One statement, and so one snapshot: of two, the second could have an event that follows one the first has not seen. */
const withRefundsIn = (prefix: '' | 'all_') => `
  WITH e AS MATERIALIZED (
    SELECT * FROM (
      (${endsIn(prefix)})
      UNION ALL
      (SELECT partner_id, mode, event_id, payment_id, refund_id FROM refunds
        WHERE partner_id = $1 AND mode = $2 AND event_id >= $3 ORDER BY event_id LIMIT $4)) AS u
     ORDER BY u.id LIMIT $4)
  SELECT ${paymentColumns('p')}, e.id AS event_id, ${refundColumns('r')}
    FROM e ${anyPayment}
    LEFT JOIN refunds r ON r.refund_id = e.refund_id
   ORDER BY e.id`;

const isLostEvent = (db: Queryable, eventId: bigint) =>
  readValue<boolean>(db, {
    text: 'SELECT event_is_lost($1) AS lost',
    values: [eventId],
  });

/** The id of the newest event, pruned or not; 0 if there was none. */
export const findLastEvent = (db: Queryable, { partnerId, mode }: AccountKey) =>
  readValue<bigint>(db, {
    name: 'find last event',
    text: `SELECT coalesce(greatest(
                    (SELECT max(id) FROM events WHERE partner_id = $1 AND mode = $2),
                    (SELECT max(event_id) FROM refunds WHERE partner_id = $1 AND mode = $2),
                    (SELECT max(last_event_id) FROM archive_sums WHERE partner_id = $1 AND mode = $2),
                    (SELECT last_event_id FROM test_checkpoints WHERE partner_id = $1 AND $2::mode = 'test')), 0) AS last`,
    values: [uuidFromId(partnerId), mode],
  });
