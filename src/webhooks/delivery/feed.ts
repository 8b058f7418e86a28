import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type PaymentRow, paymentColumns, toPayment } from '../../payments/index.ts';
import type { Event } from './envelope.ts';

export interface EventPage {
  events: Event[];
  hasMore: boolean;
}

/** Oldest first. The ids of one partner and mode are in the order of commit, so a reader never misses a late commit. */
export async function listEvents(
  db: Queryable,
  { partnerId, mode }: AccountKey,
  { after, limit }: { after: bigint; limit: number },
): Promise<EventPage> {
  const { rows } = await db.query<PaymentRow & { event_id: bigint }>({
    name: 'list events',
    text: `SELECT ${paymentColumns('p')}, e.id AS event_id
             FROM (SELECT * FROM events WHERE partner_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4) AS e
             JOIN payments p ON p.partner_id = e.partner_id AND p.mode = e.mode AND p.id = e.payment_id
            ORDER BY e.id`,
    values: [uuidFromId(partnerId), mode, after, limit + 1],
  });
  const events = rows.map(row => ({ eventId: row.event_id, payment: toPayment(row) }));
  return { events: events.slice(0, limit), hasMore: events.length > limit };
}
