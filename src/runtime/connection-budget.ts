import { OperatorError } from '../base/operator-error.ts';
import { connectionsPerProcess, type Pool, readConnectionLimits } from '../db/postgres/index.ts';

/**
 * Whether the server has a connection for everything that this node may open. Refuses what can never work. Returns a warning
 * if it works only while others use less than they do now: during a rolling restart they soon will.
 */
export async function checkConnections(db: Pool, processes: number): Promise<string | undefined> {
  const { allowed, used } = await readConnectionLimits(db);
  const needed = processes * connectionsPerProcess;
  const wanted = `${processes} ${processes === 1 ? 'process' : 'processes'} may open ${needed} connections`;
  if (needed > allowed)
    throw new OperatorError(
      `${wanted}, and PostgreSQL allows ${allowed}: raise max_connections, or set PROCESSES to ${Math.max(1, Math.floor(allowed / connectionsPerProcess))}.`,
    );
  if (needed + used <= allowed) return undefined;
  return `${wanted}; ${used} of the ${allowed} that PostgreSQL allows are in use: raise max_connections to ${needed + used + 10}, or lower PROCESSES.`;
}
