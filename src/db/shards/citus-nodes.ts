import { describeServer, type ServerAddress } from '../../base/database-url.ts';
import type { Pool, Queryable } from '../pool.ts';
import { openPoolAt } from './nodes.ts';

/** A node of Citus that may have shards. */
export interface CitusNode extends ServerAddress {
  /** The numbers of those that it has. */
  shards: number[];
}

/** In the order in which Citus counts them. From the catalog, which can be read while nodes are down. */
export async function listNodes(db: Queryable): Promise<CitusNode[]> {
  const { rows } = await db.query<CitusNode>({
    text: `SELECT n.nodename AS host, n.nodeport AS port,
                  ARRAY(SELECT s.number FROM public.shards s
                          JOIN pg_dist_shard d ON d.logicalrelid = to_regclass(public.shard_schema(s.number) || '.accounts')
                          JOIN pg_dist_placement p ON p.shardid = d.shardid AND p.groupid = n.groupid
                         ORDER BY s.number) AS shards
             FROM pg_dist_node n
            WHERE n.noderole = 'primary' AND n.isactive AND n.shouldhaveshards
            ORDER BY n.nodename COLLATE "C", n.nodeport`,
  });
  return rows;
}

export const findNode = (nodes: CitusNode[], { host, port }: ServerAddress): CitusNode | undefined =>
  nodes.find(node => node.host === host && node.port === port);

export const describeNodes = (nodes: CitusNode[]) => nodes.map(describeServer).join(', ');

/** With the fewest shards, and of equal ones the first. */
export const leastFilled = (nodes: CitusNode[]): CitusNode | undefined =>
  nodes.toSorted((one, other) => one.shards.length - other.shards.length)[0];

/** Does something in a session on the node. Fails if it is a standby, or could lose a commit in a crash. */
export async function onNode<Result>(
  coordinator: Pool,
  address: ServerAddress,
  work: (node: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = openPoolAt(coordinator, address);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
