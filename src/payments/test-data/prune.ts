import { type Clock, dayMs } from '../../base/clock.ts';
import { isItemError, type Pool, readValues, sqlStateOf, transaction } from '../../db/postgres/index.ts';
import { oldestKept } from '../../db/retention/index.ts';

export interface TestDataOptions {
  keptDays: number;
  /** Entries of one transaction: few enough that it takes milliseconds, and that a kill undoes little. */
  batchSize?: number;
  onBatch?(payments: number): void;
}

/** A stopping process waits for the round; what is left waits for the next one. */
const maxRoundMs = 30_000;

const isInUse = (error: unknown) => sqlStateOf(error) === '55P03';

/**
 * Deletes test payments that ended long ago, with everything that belongs to them, also what was archived. Whole UTC days
 * go, so that a statement is complete or gone. Returns the number of payments. Each batch is one transaction: a kill leaves
 * it done or not begun. One process at a time works; the others leave it to that one. An account that cannot be pruned
 * does not keep back the others.
 */
export async function pruneTestData(
  pool: Pool,
  clock: Clock,
  { keptDays, batchSize = 200, onBatch = () => {} }: TestDataOptions,
): Promise<number> {
  const before = new Date(Math.floor(oldestKept(clock, { keptDays }).getTime() / dayMs) * dayMs);
  const endMs = clock.monotonicMs() + maxRoundMs;
  const errors: unknown[] = [];
  let pruned = 0;

  async function pruneBatch(partner: string): Promise<'more' | 'done' | 'stop'> {
    if (clock.monotonicMs() > endMs) return 'stop';
    // A transaction of its own waits for its rollback. A plain statement fails before that, and its lock is still there
    // when the next account asks for it.
    const { rows } = await transaction(pool, tx =>
      tx.query<{ payments: bigint; entries: bigint }>({
        text: 'SELECT payments, entries FROM prune_test_data($1, $2, $3)',
        values: [partner, before, batchSize],
      }),
    );
    if (!rows[0]) return 'stop';
    const { payments, entries } = rows[0];
    if (entries === 0n) return 'done';
    pruned += Number(payments);
    onBatch(Number(payments));
    return 'more';
  }

  for (const partner of await listPartners(pool, before)) {
    let next: 'more' | 'done' | 'stop' = 'more';
    while (next === 'more')
      next = await pruneBatch(partner).catch(error => {
        // A delivery of this account is in use, or a guard found a fault.
        if (!isInUse(error) && !isItemError(error)) throw error;
        errors.push(error);
        return 'done';
      });
    if (next === 'stop') break;
  }
  if (errors.length > 0) throw errors.find(error => !isInUse(error)) ?? errors[0];
  return pruned;
}

/** Partners whose first test entry after the checkpoint is old enough. */
const listPartners = (pool: Pool, before: Date) =>
  readValues<string>(pool, {
    text: `SELECT a.partner_id FROM accounts a LEFT JOIN test_checkpoints c ON c.partner_id = a.partner_id
            WHERE a.mode = 'test' AND $1 > (
                  SELECT e.created_at
                    FROM entries_between(a.partner_id, 'test', coalesce(c.entry_no, 0), a.entry_count, false, 1) e)
            ORDER BY a.partner_id`,
    values: [before],
  });
