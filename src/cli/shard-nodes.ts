import { describeServer, type ServerAddress } from '../base/database-url.ts';
import { connectionsOnWorker, readConnectionLimits } from '../db/connection-limits.ts';
import { isDatabaseUnavailable, type Pool, sqlStateOf } from '../db/pool.ts';
import {
  type CitusNode,
  describeNodes,
  findNode,
  leastFilled,
  listNodes,
  onNode,
} from '../db/shards/citus-nodes.ts';
import { hasCitus } from '../db/shards/create-on-citus.ts';
import { RefusedError } from './refused.ts';

/** On which node of Citus a new shard is made; undefined without the extension. Refuses what could not work. */
export async function chooseNode(
  pool: Pool,
  wanted: ServerAddress | undefined,
  processes: number,
): Promise<CitusNode | undefined> {
  if (!(await hasCitus(pool))) {
    if (wanted) throw notOnCitus();
    return undefined;
  }
  const nodes = await listNodes(pool);
  const node = wanted ? findNode(nodes, wanted) : leastFilled(nodes);
  if (nodes.length === 0) throw withoutNodes();
  if (!node) throw unknownNode(wanted!, nodes);
  await refuseUnfitNode(pool, node, processes);
  return node;
}

/** It must answer, keep what it commits, and have connections for one shard more. */
export async function refuseUnfitNode(pool: Pool, node: CitusNode, processes: number): Promise<void> {
  const { allowed } = await onNode(pool, node, readConnectionLimits).catch(error => {
    if (!isDatabaseUnavailable(error) && sqlStateOf(error) === undefined) throw error;
    throw new RefusedError(
      'unfit_node',
      `The node ${describeServer(node)} cannot be used (${(error as Error).message}): start it, or choose another one. Nothing was changed.`,
    );
  });
  const shards = node.shards.length + 1;
  const needed = processes * connectionsOnWorker(shards);
  if (needed > allowed)
    throw new RefusedError(
      'too_few_connections',
      `With ${shards} shards on ${describeServer(node)} the ${processes} running processes may open ${needed} connections there, and it allows ${allowed}: raise max_connections on it, or lower PROCESSES. Nothing was changed.`,
    );
}

export const notOnCitus = () =>
  new RefusedError(
    'not_on_citus',
    'The database has no extension Citus, so all shards are on this server: see docs/operations/citus.md. Nothing was changed.',
  );

export const withoutNodes = () =>
  new RefusedError(
    'no_nodes',
    "The database has the extension Citus, and no worker that may have shards: add one with SELECT citus_add_node('HOST', PORT). To have all shards on this server, remove the extension with DROP EXTENSION citus. Nothing was changed.",
  );

export const unknownNode = (wanted: ServerAddress, nodes: CitusNode[]) =>
  new RefusedError(
    'unknown_node',
    `There is no node ${describeServer(wanted)} that may have shards. There are: ${describeNodes(nodes)}. Nothing was changed.`,
  );
