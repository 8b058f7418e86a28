import { type Clock, instantOf } from '../base/clock.ts';
import { type Queryable, readValue } from '../db/postgres/index.ts';

/**
 * For how many seconds the attempt is due that waits longest. Endpoints that hang or are suspended are left out: their events wait
 * for their partners.
 */
export const readLatenessSec = (db: Queryable, clock: Clock) =>
  readValue<number>(db, {
    text: `SELECT greatest(0, coalesce(extract(epoch FROM $1::timestamptz - min(d.next_at)), 0))::float8
             FROM endpoints w
            CROSS JOIN LATERAL (SELECT next_at FROM deliveries WHERE endpoint_id = w.endpoint_id AND failed_at IS NULL
                                 ORDER BY next_at, event_id LIMIT 1) AS d
            WHERE w.suspended_at IS NULL AND NOT w.hanging`,
    values: [instantOf(clock)],
  });
