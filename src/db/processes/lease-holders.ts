import { type Queryable, readValues } from '../postgres/index.ts';
import type { Heartbeat } from './heartbeat.ts';

/** The processes that have ended, of those with leases on rows of this table. */
export async function findDeadHolders(
  db: Queryable,
  { instance, findDead }: Pick<Heartbeat, 'instance' | 'findDead'>,
  table: 'open_payments' | 'endpoints',
): Promise<number[]> {
  const holders = await readValues<number>(db, {
    name: `list lease holders of ${table}`,
    text: `SELECT DISTINCT lease_holder FROM ${table} WHERE lease_holder IS NOT NULL ORDER BY lease_holder`,
  });
  return findDead(holders.filter(holder => holder !== instance));
}

/** How long to pause before what is due is claimed again. Without anything to wait for, `idle`. */
export function pauseUntilDue(
  nowMs: number,
  firstDueMs: number | undefined,
  pausesMs: Record<'due' | 'waiting' | 'idle', number>,
): number {
  if (firstDueMs === undefined) return pausesMs.idle;
  return firstDueMs > nowMs ? Math.min(firstDueMs - nowMs, pausesMs.waiting) : pausesMs.due;
}
