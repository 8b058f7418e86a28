import type { Clock } from '../../base/clock.ts';
import { lockTimeoutMs, type Queryable, readRows, sqlStateOf } from '../postgres/index.ts';
import { createRunPlaces, type LockWait } from './own-lanes.ts';

/**
 * A batch waits this long for a locked row, and a locked row costs the others this time once. Contention between processes
 * must be shorter: they lock an account while they carry out one batch, 60 ms for 256 payments. On a machine with five
 * times the load that it can bear, 100 ms ended 31 waits in 15 s, with fewer payments; 250 ms ended two.
 */
const shortLockTimeout = '250ms';

/** The value of the parameter `lockTimeout` below. */
export const lockTimeoutOf = (lockWait: LockWait) => (lockWait === 'short' ? shortLockTimeout : null);

/**
 * For the FROM of a statement: sets how long it waits for locks; null leaves that as it is. The function that locks must
 * take one of its arguments from here, as `call.argument`, so that the setting is made first.
 */
export const setsLockTimeout = (lockTimeout: string, argument: string) =>
  `set_config('lock_timeout', coalesce(${lockTimeout}, current_setting('lock_timeout')), true) AS lock_timeout,
   LATERAL (SELECT CASE WHEN lock_timeout IS NOT NULL THEN ${argument} END AS argument) AS call`;

/** Nothing was written: the server rolled the statement back. */
const isLockTimeout = (error: unknown) => sqlStateOf(error) === '55P03';

/** What the own lanes of all batchers have in common. With so many runs, each of which may hold a connection while it waits. */
export const lockTimeoutLanes = (clock: Clock, maxRuns = 1) => ({
  isLockTimeout,
  clock,
  maxWaitMs: lockTimeoutMs,
  runs: createRunPlaces(maxRuns),
});

/** A column of a unique key, its type, and its value for an item. */
type KeyColumn<Item> = [name: string, type: string, read: (item: Item) => unknown];

/** Those of the items whose row another session has locked. It waits for none and keeps none. */
export async function findLockedRows<Item>(
  db: Queryable,
  items: Item[],
  table: string,
  key: KeyColumn<Item>[],
): Promise<Item[]> {
  const names = key.map(([name]) => name).join(', ');
  const rows = await readRows<{ item: number }>(db, {
    name: `find locked ${table}`,
    text: `SELECT k.item::int
             FROM unnest(${key.map(([, type], nth) => `$${nth + 1}::${type}[]`)})
                  WITH ORDINALITY AS k (${names}, item)
             JOIN ${table} USING (${names})
             LEFT JOIN LATERAL (SELECT true AS is_free FROM ${table} r
                                 WHERE ${key.map(([name]) => `r.${name} = k.${name}`).join(' AND ')}
                                   FOR UPDATE SKIP LOCKED) AS r ON true
            WHERE r.is_free IS NULL`,
    values: key.map(([, , read]) => items.map(read)),
  });
  return rows.map(({ item }) => items[item - 1]!);
}
