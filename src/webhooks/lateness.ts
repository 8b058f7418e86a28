import { type Clock, instantOf } from '../base/clock.ts';
import { type Queryable, readValue } from '../db/postgres/index.ts';

/** What one partner waits for is no business of others: its receiver may be slow. */
const latePartners = 2;

/**
 * For how many seconds so many partners wait for an attempt that is due. Endpoints that hang or are suspended are left out: their events
 * wait for their partners.
 */
export const readLatenessSec = (db: Queryable, clock: Clock) =>
  readValue<number>(db, {
    text: `SELECT greatest(0, coalesce(extract(epoch FROM $1::timestamptz - (
                    SELECT min(d.next_at) AS first_at
                      FROM endpoints w
                     CROSS JOIN LATERAL (SELECT next_at FROM deliveries WHERE endpoint_id = w.endpoint_id AND failed_at IS NULL
                                          ORDER BY next_at, event_id LIMIT 1) AS d
                     WHERE w.suspended_at IS NULL AND NOT w.hanging
                     GROUP BY w.partner_id ORDER BY first_at LIMIT 1 OFFSET ${latePartners - 1})), 0))::float8`,
    values: [instantOf(clock)],
  });
