import { OperatorError } from '../base/operator-error.ts';
import type { Queryable } from '../db/pool.ts';

/** The pools of a process, its sessions for locks and messages, and the check of the history; see docs/internals/database.md. */
export const connectionsPerProcess = 23;

interface Limits {
  /** What is left of max_connections for ordinary users. */
  allowed: number;
  /** Sessions of others: another node, other programs. */
  used: number;
}

async function readLimits(db: Queryable): Promise<Limits> {
  const { rows } = await db.query<Limits>({
    text: `SELECT current_setting('max_connections')::int
                  - current_setting('superuser_reserved_connections')::int
                  - coalesce(current_setting('reserved_connections', true)::int, 0) AS allowed,
                  (SELECT count(*)::int FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`,
  });
  return rows[0]!;
}

/**
 * Whether the server has a connection for everything that this node may open. Refuses what can never work. Returns a warning
 * if it works only while others use less than they do now: during a rolling restart they soon will.
 */
export async function checkConnections(db: Queryable, processes: number): Promise<string | undefined> {
  const { allowed, used } = await readLimits(db);
  const needed = processes * connectionsPerProcess;
  const wanted = `${processes} ${processes === 1 ? 'process' : 'processes'} may open ${needed} connections`;
  if (needed > allowed)
    throw new OperatorError(
      `${wanted}, and PostgreSQL allows ${allowed}: raise max_connections, or set PROCESSES to ${Math.max(1, Math.floor(allowed / connectionsPerProcess))}.`,
    );
  if (needed + used <= allowed) return undefined;
  return `${wanted}; ${used} of the ${allowed} that PostgreSQL allows are in use: raise max_connections to ${needed + used + 10}, or lower PROCESSES.`;
}
