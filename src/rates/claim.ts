import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';

/** Longer than a refresh takes: after this, one that stored nothing has failed or died. */
export const refreshTakesAtMostMs = 10_000;

/**
 * True for one caller per period, over all processes. A claim whose refresh brought no rate counts only while that
 * refresh may be under way; else a service whose first attempt failed would be without a rate for a whole period.
 * A claim from the future is void: a clock that was wrong for a moment must not stop everybody until then.
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
      new Date(nowMs - refreshTakesAtMostMs),
      new Date(nowMs + refreshTakesAtMostMs),
    ],
  });
  return rowCount === 1;
}
