import { readFileSync } from 'node:fs';
import type { Queryable } from '../pool.ts';
import { splitStatements } from '../sql-statements.ts';
import { schemaOf } from './layout.ts';

/* How the schema of a shard comes to Citus: what differs from a shard in one database. See docs/internals/shards.md. */

const files = new URL('../../../database/citus/', import.meta.url);
const statementsOf = (name: string) => splitStatements(readFileSync(new URL(name, files), 'utf8'));

const copiesOf = (schema: string) => `${schema}_copies`;

/** Whether new shards are distributed schemas. */
export async function hasCitus(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query({ text: "SELECT FROM pg_extension WHERE extname = 'citus'" });
  return rowCount === 1;
}

/** Makes the schema of a shard on a worker, and all that it has besides the tables of every shard but functions. */
export async function createDistributedSchema(tx: Queryable, schema: string): Promise<void> {
  await tx.query({ text: 'SET LOCAL citus.enable_schema_based_sharding = on' });
  await tx.query({ text: `CREATE SCHEMA ${schema}` });
  await tx.query({ text: 'SET LOCAL citus.enable_schema_based_sharding = off' });
  await tx.query({ text: `CREATE SCHEMA ${copiesOf(schema)}` });
  const { rows } = await tx.query<{ exist: boolean }>({
    text: "SELECT to_regtype('public.payment_ending') IS NOT NULL AS exist",
  });
  if (!rows[0]!.exist) for (const text of statementsOf('types.sql')) await tx.query({ text });
}

/**
 * A statement of schema.sql as Citus takes it. Tables that stand once are on another node, so no key refers to them; and the
 * number of an event comes from its account.
 */
export function citusStatement(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n'))
    if (!refersToOriginal(line)) lines.push(line);
    // The line before it ends the list now.
    else if (!line.endsWith(',')) lines.push(lines.pop()!.replace(/,$/, ''));
  const kept = lines.join('\n');
  return kept.startsWith('CREATE TABLE events (') ? kept.replace(' GENERATED ALWAYS AS IDENTITY', '') : kept;
}

const refersToOriginal = (line: string) =>
  line.includes(' FOREIGN KEY (') &&
  [' REFERENCES partners(', ' REFERENCES incarnations('].some(reference => line.includes(reference));

/** The tables that only a shard on Citus has, and the views of the copies. */
export async function createCitusTables(tx: Queryable, shard: number, shards: number): Promise<void> {
  const schema = schemaOf(shard);
  for (const text of statementsOf('tables.sql')) await tx.query({ text });
  await tx.query({
    text: 'INSERT INTO shard_state (number, shards) VALUES ($1, $2)',
    values: [shard, shards],
  });
  await tx.query({ text: `SET LOCAL search_path = ${copiesOf(schema)}, ${schema}, public, pg_temp` });
  for (const text of statementsOf('views.sql')) await tx.query({ text });
  await tx.query({ text: `SET LOCAL search_path = ${schema}, public, pg_temp` });
}

/** Numbers new accounts. Once the functions are there. */
export const numberAccounts = (tx: Queryable) =>
  tx.query({
    text: `CREATE TRIGGER accounts_number_their_events BEFORE INSERT ON accounts
             FOR EACH ROW EXECUTE FUNCTION number_account()`,
  });

/** The other shards know of a new one from the commit on: payments_open compares it with what its caller knows. */
export async function announceShard(tx: Queryable, distributed: number[], shards: number): Promise<void> {
  for (const shard of distributed)
    await tx.query({ text: `UPDATE ${schemaOf(shard)}.shard_state SET shards = $1`, values: [shards] });
}
