import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import {
  lastArchivedEvent,
  lastPrunedEvent,
  type PaymentRow,
  paymentColumns,
  toPayment,
} from '../../payments/index.ts';
import type { Event } from './envelope.ts';

export interface EventPage {
  events: Event[];
  hasMore: boolean;
}

/**
 * Oldest first. The ids of one partner and mode are in the order of commit, so a reader never misses a late commit.
 * Undefined if `after` is not an event of this partner and mode; 0 is the beginning. A number that a lost history may have
 * given out stands for the end of that history: what was rebuilt follows. Of pruned events, only the newest may be given:
 * after an older one the reader would miss some.
 */
export async function listEvents(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  { after, limit }: { after: bigint; limit: number },
): Promise<EventPage | undefined> {
  const read = (prefix: '' | 'all_') =>
    db.query<PaymentRow & { event_id: bigint }>({
      name: `list ${prefix}events`,
      text: `SELECT ${paymentColumns('p')}, e.id AS event_id
               FROM (SELECT * FROM ${prefix}events
                      WHERE partner_id = $1 AND mode = $2 AND id >= $3 ORDER BY id LIMIT $4) AS e
              CROSS JOIN LATERAL (SELECT * FROM ${prefix}payments p WHERE p.partner_id = e.partner_id
                                     AND p.mode = e.mode AND p.id = e.payment_id LIMIT 1) AS p
              ORDER BY e.id`,
      // Two more than the page: the event of the cursor itself, and one that shows whether there are more.
      values: [uuidFromId(partnerId), mode, after, limit + 2],
    });
  const live = await read('');
  const archived = await lastArchivedEvent(db, { partnerId, mode });
  const { rows } = archived === null || after > archived ? live : await read('all_');
  const found = rows.map(row => ({ eventId: row.event_id, payment: toPayment(row) }));
  if (after > 0n && found[0]?.eventId === after) found.shift();
  else if (after > 0n && !(await isLostEvent(db, after))) {
    const pruned = await lastPrunedEvent(db, { partnerId, mode });
    if (after !== pruned) return undefined;
  }
  return { events: found.slice(0, limit), hasMore: found.length > limit };
}

/** Whether numbers jumped over this one, since the database may have forgotten its event. */
async function isLostEvent(db: Queryable, eventId: bigint): Promise<boolean> {
  const { rowCount } = await db.query({
    text: 'SELECT FROM incarnations WHERE last_event_id < $1 AND next_event_id > $1 LIMIT 1',
    values: [eventId],
  });
  return rowCount === 1;
}

/** The id of the newest event, pruned or not; 0 if there was none. */
export async function findLastEvent(db: Queryable, { partnerId, mode }: AccountKey): Promise<bigint> {
  const { rows } = await db.query<{ last: bigint }>({
    name: 'find last event',
    text: `SELECT coalesce(greatest(
                    (SELECT max(id) FROM events WHERE partner_id = $1 AND mode = $2),
                    (SELECT max(last_event_id) FROM archive_sums WHERE partner_id = $1 AND mode = $2),
                    (SELECT last_event_id FROM test_checkpoints WHERE partner_id = $1 AND $2::mode = 'test')), 0) AS last`,
    values: [uuidFromId(partnerId), mode],
  });
  return rows[0]!.last;
}
