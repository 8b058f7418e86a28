import type { Queryable } from './pool.ts';

export interface ConnectionLimits {
  /** What is left of max_connections for ordinary users. */
  allowed: number;
  /** Sessions of others than the one that asks. */
  used: number;
}

export async function readConnectionLimits(db: Queryable): Promise<ConnectionLimits> {
  const { rows } = await db.query<ConnectionLimits>({
    text: `SELECT current_setting('max_connections')::int
                  - current_setting('superuser_reserved_connections')::int
                  - coalesce(current_setting('reserved_connections', true)::int, 0) AS allowed,
                  (SELECT count(*)::int FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`,
  });
  return rows[0]!;
}

/** The pools of a process, its sessions for locks and messages, and the check of the history; see docs/internals/database.md. */
const connectionsPerProcess = 24;
/** Each of several shards has pools of its own. */
const connectionsPerShard = 10;

/** How many connections a process may open. */
export const connectionsOfProcess = (shards: number) =>
  connectionsPerProcess + (shards > 1 ? shards * connectionsPerShard : 0);

/**
 * Of a shard on Citus, on its worker: its pool (src/db/shards/pools.ts), the check of its history, and one each with which the general pool, console
 * and conversations bring it changes.
 */
const connectionsPerShardOnWorker = 10;

/** How many connections a process may open on a worker that has so many shards. */
export const connectionsOnWorker = (shards: number) => shards * connectionsPerShardOnWorker;
