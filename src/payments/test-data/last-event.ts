import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';

/** The newest event that was pruned; null if there is none. A reader that has it has missed none. */
export async function lastPrunedEvent(
  db: Queryable,
  { partnerId, mode }: AccountKey,
): Promise<bigint | null> {
  if (mode !== 'test') return null;
  const { rows } = await db.query<{ last_event_id: bigint | null }>({
    name: 'last pruned event',
    text: 'SELECT last_event_id FROM test_checkpoints WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  });
  return rows[0]?.last_event_id ?? null;
}
