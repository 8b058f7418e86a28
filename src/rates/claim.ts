import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/postgres/index.ts';

/** Longer than a refresh takes: one that has stored nothing by then has failed or its process has died. */
export const maxRefreshMs = 10_000;

/**
 * Leader election: true for one caller per period, over all processes. A claim whose refresh stored no rate counts only
 * as long as a refresh can take; otherwise a failed first refresh would leave the service without a rate for a whole
 * period. A claim from the future does not count: a clock that was wrong for a moment must not stop all processes.
 */
export async function claimRefresh(db: Queryable, clock: Clock, refreshSec: number): Promise<boolean> {
  const nowMs = clock.nowMs();
  const { rowCount } = await db.query({
    text: `UPDATE rate_refresh SET claimed_at = $1
            WHERE claimed_at <= $2
               OR claimed_at > $4
               OR (claimed_at <= $3
                   AND coalesce((SELECT created_at FROM rates ORDER BY id DESC LIMIT 1), '-infinity') <= $2)
           RETURNING claimed_at`,
    values: [
      new Date(nowMs),
      new Date(nowMs - refreshSec * 1_000),
      new Date(nowMs - maxRefreshMs),
      new Date(nowMs + maxRefreshMs),
    ],
  });
  return rowCount === 1;
}
