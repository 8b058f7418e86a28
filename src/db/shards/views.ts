import type { Queryable } from '../pool.ts';
import { schemaOf, schemaOfAll, shardRelations } from './layout.ts';

/**
 * Makes the views over all shards, or adds what tables have got since. A column can only be added to a view: a migration
 * that removes one drops the views itself, see database/README.md.
 */
export async function createViews(tx: Queryable, shards: number[]): Promise<void> {
  await tx.query({ text: `CREATE SCHEMA IF NOT EXISTS ${schemaOfAll}` });
  for (const { name, columns } of await existing(tx)) {
    const parts = shards.map(shard => `SELECT ${columns} FROM ${schemaOf(shard)}.${name}`);
    await tx.query({
      text: `CREATE OR REPLACE VIEW ${schemaOfAll}.${name} AS ${parts.join(' UNION ALL ')}`,
    });
  }
}

/** Those that the migrations so far have made, with their columns in shard 0. On Citus a shard has more. */
async function existing(tx: Queryable): Promise<{ name: string; columns: string }[]> {
  const { rows } = await tx.query<{ name: string; columns: string }>({
    text: `SELECT r.name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
             FROM unnest($1::text[]) WITH ORDINALITY AS r (name, nth)
             JOIN pg_attribute a ON a.attrelid = to_regclass('public.' || r.name) AND a.attnum > 0 AND NOT a.attisdropped
            GROUP BY r.name, r.nth ORDER BY r.nth`,
    values: [shardRelations],
  });
  return rows;
}
