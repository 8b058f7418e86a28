import { describeServer } from '../base/database-url.ts';
import { OperatorError } from '../base/operator-error.ts';
import { connectionsOfProcess, connectionsOnWorker, readConnectionLimits } from '../db/connection-limits.ts';
import { isDatabaseUnavailable, type Pool } from '../db/pool.ts';
import { listNodes, onNode } from '../db/shards/citus-nodes.ts';
import { listShards } from '../db/shards/layout.ts';

/**
 * Whether the server has a connection for everything that this node may open. Refuses what can never work. Returns a warning
 * if it works only while others use less than they do now: during a rolling restart they soon will.
 */
export async function checkConnections(db: Pool, processes: number): Promise<string | undefined> {
  const { allowed, used } = await readConnectionLimits(db);
  const each = connectionsOfProcess((await listShards(db)).length);
  const needed = processes * each;
  const wanted = `${processes} ${processes === 1 ? 'process' : 'processes'} may open ${needed} connections`;
  if (needed > allowed)
    throw new OperatorError(
      `${wanted}, and PostgreSQL allows ${allowed}: raise max_connections, or set PROCESSES to ${Math.max(1, Math.floor(allowed / each))}.`,
    );
  if (needed + used <= allowed) return checkNodes(db, processes);
  return `${wanted}; ${used} of the ${allowed} that PostgreSQL allows are in use: raise max_connections to ${needed + used + 10}, or lower PROCESSES.`;
}

/** The same of the workers of Citus: a warning for the first that has too few. */
async function checkNodes(pool: Pool, processes: number): Promise<string | undefined> {
  if (!pool.options.distributed?.length) return undefined;
  for (const node of await listNodes(pool)) {
    const limits = await onNode(pool, node, readConnectionLimits).catch(error => {
      // Its partners get 503, and the others can be served.
      if (isDatabaseUnavailable(error)) return undefined;
      throw error;
    });
    const needed = processes * connectionsOnWorker(node.shards.length);
    if (limits && needed + limits.used > limits.allowed)
      return `${processes} processes may open ${needed} connections on the node ${describeServer(node)}; ${limits.used} of the ${limits.allowed} that it allows are in use: raise max_connections there to ${needed + limits.used + 10}, or lower PROCESSES.`;
  }
  return undefined;
}
