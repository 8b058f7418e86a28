import type { Clock } from '../../base/clock.ts';
import { isDatabaseUnavailable, type Queryable, sqlStateOf } from '../pool.ts';
import { distributedShards } from './citus.ts';
import { schemaOf, shardRelations } from './layout.ts';

export interface ShardFigures {
  shard: number;
  createdAt: Date;
  /** `host:port` of a node of Citus; undefined: the server of the database itself. */
  node: string | undefined;
  partners: number;
  /** Of all its tables, as PostgreSQL estimates them. Counting them could take minutes. */
  rows: number;
  bytes: number;
  /** Created in the last minute. Undefined if its tables cannot be read. */
  paymentsPerMinute: number | undefined;
}

/** What `kopeck shard list` shows. */
export async function readShardFigures(db: Queryable, clock: Clock): Promise<ShardFigures[]> {
  const shards = await readSizes(db);
  const nodes = await readNodes(
    db,
    shards.map(({ shard }) => shard),
  );
  const found: ShardFigures[] = [];
  for (const shard of shards)
    found.push({
      ...shard,
      node: nodes.get(shard.shard),
      paymentsPerMinute: await countPayments(db, clock, shard.shard),
    });
  return found;
}

async function readSizes(db: Queryable) {
  const { rows } = await db.query<{
    shard: number;
    createdAt: Date;
    partners: number;
    rows: bigint;
    bytes: bigint;
  }>({
    text: `SELECT s.number AS shard, s.created_at AS "createdAt",
                  (SELECT count(*)::int FROM partners p WHERE p.shard = s.number) AS partners,
                  coalesce(sum(greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)), 0)::bigint AS rows,
                  coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint AS bytes
             FROM shards s
             LEFT JOIN pg_class c ON c.relnamespace = to_regnamespace(shard_schema(s.number)) AND c.relkind = 'r'
              AND coalesce((SELECT r.relname FROM pg_class r WHERE r.oid = pg_partition_root(c.oid)), c.relname) = ANY ($1)
            GROUP BY s.number, s.created_at ORDER BY s.number`,
    values: [shardRelations],
  });
  return rows.map(row => ({ ...row, rows: Number(row.rows), bytes: Number(row.bytes) }));
}

/** Where the shards on Citus are. */
async function readNodes(db: Queryable, shards: number[]): Promise<Map<number, string>> {
  const nodes = new Map<number, string>();
  for (const shard of await distributedShards(db, shards)) {
    const { rows } = await db.query<{ node: string }>({
      text: `SELECT nodename || ':' || nodeport AS node FROM citus_shards
              WHERE starts_with(table_name::text, $1 || '.') LIMIT 1`,
      values: [schemaOf(shard)],
    });
    if (rows[0]) nodes.set(shard, rows[0].node);
  }
  return nodes;
}

const minuteMs = 60_000;

/** Ids begin with the time, and the index of the newest payments has them. */
async function countPayments(db: Queryable, clock: Clock, shard: number): Promise<number | undefined> {
  const firstId = `${Math.floor(clock.nowMs() - minuteMs)
    .toString(16)
    .padStart(12, '0')}${'0'.repeat(20)}`;
  try {
    const { rows } = await db.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM ${schemaOf(shard)}.payments
              WHERE mode IN ('live', 'test') AND id >= $1::uuid AND NOT rejected`,
      values: [firstId],
    });
    return rows[0]!.count;
  } catch (error) {
    if (isDatabaseUnavailable(error) || isMissing(error)) return undefined;
    throw error;
  }
}

/** Of its schema or a table of it, or of a right to read it. */
const isMissing = (error: unknown) => ['3F000', '42P01', '42501'].includes(sqlStateOf(error) ?? '');
