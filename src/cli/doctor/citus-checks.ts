import { describeServer } from '../../base/database-url.ts';
import type { Database } from '../../db/database.ts';
import { isDatabaseUnavailable, type Pool, sqlStateOf } from '../../db/pool.ts';
import { type CitusNode, listNodes, onNode } from '../../db/shards/citus-nodes.ts';
import { bad, type Check, ok, warn } from './finding.ts';

interface NodeSettings {
  version: string;
  walLevel: string;
  preparedTransactions: number;
}

const settingsQuery = `
  SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version,
         current_setting('wal_level') AS "walLevel",
         current_setting('max_prepared_transactions')::int AS "preparedTransactions"`;

const readSettings = async (pool: Pool): Promise<NodeSettings> =>
  (await pool.query<NodeSettings>(settingsQuery)).rows[0]!;

/** Of each node that may have shards; the message of the error of one that cannot be asked. */
async function askNodes<Answer>({ pool }: Pick<Database, 'pool'>, read: (node: Pool) => Promise<Answer>) {
  const nodes = await listNodes(pool);
  return Promise.all(
    nodes.map(async node => {
      const answer = await onNode(pool, node, read).catch((error: Error) => {
        if (!isDatabaseUnavailable(error) && sqlStateOf(error) === undefined) throw error;
        return error.message;
      });
      return { node, answer };
    }),
  );
}

/** Two phases of a commit are milliseconds apart. Those of the coordinator (group 0) it ends by itself within a minute. */
const listPrepared = async (pool: Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ gid: string }>(
    `SELECT gid FROM pg_prepared_xacts
      WHERE database = current_database() AND gid ~ '^citus_[1-9]' AND prepared < now() - interval '10 s'
      ORDER BY prepared`,
  );
  return rows.map(({ gid }) => gid);
};

const namesOf = (nodes: { node: CitusNode }[]) => nodes.map(({ node }) => describeServer(node)).join(', ');

const describeNode = (node: CitusNode) =>
  `${describeServer(node)} (${node.shards.length === 0 ? 'no shard' : `shard ${node.shards.join(', ')}`})`;

/** For a database with the extension. */
export const citusChecks: Record<string, Check> = {
  'Citus nodes': async (_settings, database) => {
    const asked = await askNodes(database, readSettings);
    const silent = asked.filter(({ answer }) => typeof answer === 'string');
    if (asked.length === 0)
      return warn("none may have shards: add one with SELECT citus_add_node('HOST', PORT)");
    if (silent.length > 0)
      return bad(
        `${namesOf(silent)} cannot be used (${silent[0]!.answer}), so partners of its shards get 503: start it, or lead to its standby with citus_update_node (docs/operations/citus.md)`,
      );
    const { rows } = await database.pool.query<{ inactive: string | null }>(
      "SELECT string_agg(nodename || ':' || nodeport, ', ') AS inactive FROM pg_dist_node WHERE NOT isactive",
    );
    if (rows[0]!.inactive !== null)
      return warn(`${rows[0]!.inactive} is not active: SELECT citus_activate_node('HOST', PORT)`);
    return ok(asked.map(({ node }) => describeNode(node)).join(', '));
  },
  'Citus settings': async (_settings, database) => {
    const own = await readSettings(database.pool);
    const answered = (await askNodes(database, readSettings)).flatMap(({ node, answer }) =>
      typeof answer === 'string' ? [] : [{ node, answer }],
    );
    const others = answered.filter(({ answer }) => answer.version !== own.version);
    if (others.length > 0)
      return bad(
        `the coordinator has the extension ${own.version}, and ${namesOf(others)} another version: install the same packages on all nodes, and run ALTER EXTENSION citus UPDATE on each`,
      );
    const unprepared = answered.filter(({ answer }) => answer.preparedTransactions === 0);
    if (unprepared.length > 0 || own.preparedTransactions === 0)
      return bad(
        `max_prepared_transactions is 0 on ${namesOf(unprepared) || 'the coordinator'}, so changes over several nodes fail: set it to max_connections and restart the node`,
      );
    const notLogical = answered.filter(({ answer }) => answer.walLevel !== 'logical');
    if (notLogical.length > 0)
      return warn(
        `wal_level is not logical on ${namesOf(notLogical)}, so shards cannot move: set it and restart the node`,
      );
    return ok(`version ${own.version} on all nodes, shards can move`);
  },
  'Citus transactions': async (_settings, database) => {
    const asked = await askNodes(database, listPrepared);
    const held = asked.flatMap(({ node, answer }) =>
      typeof answer === 'string' || answer.length === 0
        ? []
        : [`${describeServer(node)}: ${answer.join(', ')}`],
    );
    return held.length === 0
      ? ok('none was left half committed on a node that answers')
      : bad(
          `prepared transactions lock accounts, so their partners get 503 (${held.join('; ')}): start the node that began them, or commit them if it is gone (docs/operations/citus.md)`,
        );
  },
  'Citus moves': async (_settings, { pool }) => {
    const { rows } = await pool.query<{ moving: number; leftovers: number }>(
      `SELECT (SELECT count(*)::int FROM get_rebalance_progress()) AS moving,
              (SELECT count(*)::int FROM pg_dist_cleanup) AS leftovers`,
    );
    const { moving, leftovers } = rows[0]!;
    if (moving > 0) return ok('a shard is moving');
    return leftovers === 0
      ? ok('none under way, nothing left behind')
      : warn(
          `${leftovers} tables and subscriptions of moves are not removed yet: if they stay for minutes, run CALL citus_cleanup_orphaned_resources()`,
        );
  },
};
