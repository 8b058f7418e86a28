import type { Pool, Queryable, Statement } from '../../src/db/postgres/pool.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const blocksOf = (plan: PlanNode) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** Runs statements and collects the plan of each. */
export function explaining(pool: Pool) {
  const plans: PlanNode[] = [];
  const db: Queryable = {
    query: async (statement: Statement) => {
      const { text, values = [] } = statement;
      const explained = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
      plans.push(explained.rows[0]['QUERY PLAN'][0].Plan);
      return pool.query(statement);
    },
  };
  return {
    db,
    /** How many blocks each statement has read. */
    blocks: () => plans.map(blocksOf),
    /** How often tables whose name begins so were searched. */
    searches: (table: string) =>
      plans
        .flatMap(nodesOf)
        .filter(node => node['Relation Name']?.startsWith(table))
        .reduce((sum, node) => sum + node['Actual Loops'], 0),
    /** How many rows each sort was given. */
    sorted: () =>
      plans
        .flatMap(nodesOf)
        .filter(node => /Sort/.test(node['Node Type']))
        .flatMap(node => node.Plans ?? [])
        .map(node => node['Actual Rows'] * node['Actual Loops']),
    /** The tables that were read as a whole; an empty one, such as the partition of a week to come, costs nothing. */
    scanned: () =>
      plans
        .flatMap(nodesOf)
        .filter(node => node['Node Type'] === 'Seq Scan' && blocksOf(node) > 0)
        .map(node => node['Relation Name'] ?? ''),
  };
}
