import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';

/**
 * How far the archive of an account reaches: no archived payment has this id or a greater one, and no archived event a
 * greater id than this. Null if nothing is archived. Most reads are of recent rows, and need not look into the archive.
 * Read it after the live rows: rows move only from there to the archive, so none is missed.
 */
export async function readReach(
  db: Queryable,
  { partnerId, mode }: AccountKey,
): Promise<{ payments: string | null; events: bigint | null }> {
  const { rows } = await db.query<{ payments: string | null; events: bigint | null }>({
    name: 'reach of the archive',
    text: `SELECT archive_first_id((max(month) + interval '1 month')::date) AS payments, max(last_event_id) AS events
             FROM archive_sums WHERE partner_id = $1 AND mode = $2 AND kind <> 'entries'`,
    values: [uuidFromId(partnerId), mode],
  });
  return rows[0]!;
}
