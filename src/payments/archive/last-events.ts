import { uuidFromId } from '../../base/ids.ts';
import { findValue, type Queryable, readValue } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

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
