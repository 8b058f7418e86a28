import type { Clock } from '../../base/clock.ts';
import { describeServer } from '../../base/database-url.ts';
import { isDatabaseUnavailable, type Pool, type Queryable, sqlStateOf, transaction } from '../pool.ts';
import { type CitusNode, listNodes, onNode } from './citus-nodes.ts';
import { hasCitus } from './create-on-citus.ts';
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
export async function readShardFigures(pool: Pool, clock: Clock): Promise<ShardFigures[]> {
  const shards = await readSizes(pool);
  const nodes = (await hasCitus(pool)) ? await listNodes(pool) : [];
  const found: ShardFigures[] = [];
  for (const shard of shards) {
    const node = nodes.find(one => one.shards.includes(shard.shard));
    found.push({
      ...shard,
      ...(node ? await readSizeOn(pool, node, shard.shard) : {}),
      node: node && describeServer(node),
      paymentsPerMinute: await countPayments(pool, clock, shard.shard),
    });
  }
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

/** The coordinator has only the names of the tables. A node that does not answer is reported by the count of the payments. */
const readSizeOn = (pool: Pool, node: CitusNode, shard: number): Promise<{ rows: number; bytes: number }> =>
  onNode(pool, node, session =>
    transaction(session, async tx => {
      // The tables with the rows are hidden otherwise.
      await tx.query({ text: 'SET LOCAL citus.override_table_visibility = off' });
      const { rows } = await tx.query<{ rows: number; bytes: number }>({
        text: `SELECT coalesce(sum(greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)), 0)::float8 AS rows,
                      coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes
                 FROM pg_class c WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'`,
        values: [schemaOf(shard)],
      });
      return rows[0]!;
    }),
  ).catch(error => {
    if (isDatabaseUnavailable(error)) return { rows: 0, bytes: 0 };
    throw error;
  });

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
