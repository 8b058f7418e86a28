import type { Queryable } from '../pool.ts';
import { copiesOf, schemaOf } from './layout.ts';

/*
 * What is different if a shard is a distributed schema of Citus, on one of its workers. Shard 0 and all that stands once stay plain
 * tables of the coordinator. See docs/internals/shards.md.
 */

/** The numbers of the shards that are distributed schemas. */
export async function distributedShards(db: Queryable, shards: number[]): Promise<number[]> {
  const { rowCount } = await db.query({ text: "SELECT FROM pg_extension WHERE extname = 'citus'" });
  if (rowCount === 0) return [];
  const { rows } = await db.query<{ name: string }>({
    text: 'SELECT schemaid::regnamespace::text AS name FROM pg_dist_schema',
  });
  return shards.filter(shard => rows.some(({ name }) => name === schemaOf(shard)));
}

/** What DDL needs that reaches several nodes: triggers are allowed, and no two connections to a node at once. */
export async function prepareCitus(tx: Queryable, set: 'SET' | 'SET LOCAL' = 'SET LOCAL'): Promise<void> {
  await tx.query({ text: `${set} citus.enable_unsafe_triggers = on` });
  await tx.query({ text: `${set} citus.multi_shard_modify_mode = 'sequential'` });
}

/** Functions about what stands once. A shard on Citus has none of them: there they would see copies. */
const standOnce = [
  'announce_access_change.sql',
  'audit_chain_extend.sql',
  'audit_record.sql',
  'incarnation_begin.sql',
  'incarnation_is_watched.sql',
  'number_after_loss.sql',
  'queue_audit_record.sql',
  'take_tokens.sql',
];

/** The functions of a shard on Citus: its own forms take the place of those with the same name. */
export function citusFunctions<File extends { name: string }>(all: File[], own: File[]): File[] {
  const others = new Set([...own.map(({ name }) => name), ...standOnce]);
  return [...all.filter(({ name }) => !others.has(name)), ...own];
}

/**
 * Binds the functions of a shard to its tables and copies: connections between nodes have no search path of ours. Plans are
 * never generic: Citus refuses them for what writes.
 */
export async function bindFunctions(tx: Queryable, schema: string): Promise<void> {
  const { rows } = await tx.query<{ name: string }>({
    text: `SELECT p.oid::regprocedure::text AS name FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
            WHERE p.pronamespace = $1::text::regnamespace AND l.lanname = 'plpgsql' ORDER BY 1`,
    values: [schema],
  });
  const path = `${schema}, ${copiesOf(schema)}, public, pg_temp`;
  for (const { name } of rows) {
    await tx.query({ text: `ALTER FUNCTION ${name} SET search_path = ${path}` });
    await tx.query({ text: `ALTER FUNCTION ${name} RESET plan_cache_mode` });
  }
  // It makes partitions with triggers.
  await tx.query({
    text: `ALTER FUNCTION ${schema}.archive_prepare SET citus.enable_unsafe_triggers = on`,
  });
}

/** What that makes of the settings of a function in PL/pgSQL. */
export function boundSettings(
  name: string,
  settings: Map<string, string>,
  path: string,
): Map<string, string> {
  const bound = new Map(settings).set('search_path', path);
  bound.delete('plan_cache_mode');
  return name === 'archive_prepare' ? bound.set('citus.enable_unsafe_triggers', 'on') : bound;
}
