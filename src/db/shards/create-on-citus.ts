import { readFileSync } from 'node:fs';
import { describeServer, type ServerAddress } from '../../base/database-url.ts';
import type { Queryable } from '../pool.ts';
import { splitStatements } from '../sql-statements.ts';
import { listNodes } from './citus-nodes.ts';
import { copiesOf, schemaOf } from './layout.ts';

/* How the schema of a shard comes to Citus: what differs from a shard in one database. See docs/internals/shards.md. */

const files = new URL('../../../database/citus/', import.meta.url);
const statementsOf = (name: string) => splitStatements(readFileSync(new URL(name, files), 'utf8'));

/** Whether new shards are distributed schemas. */
export async function hasCitus(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query({ text: "SELECT FROM pg_extension WHERE extname = 'citus'" });
  return rowCount === 1;
}

/** Makes the schema of a shard on this node, and all that it has besides the tables of every shard but functions. */
export async function createDistributedSchema(
  tx: Queryable,
  schema: string,
  node: ServerAddress,
): Promise<void> {
  await tx.query({ text: 'SET LOCAL citus.enable_schema_based_sharding = on' });
  await createSchemaAt(tx, schema, node);
  await tx.query({ text: 'SET LOCAL citus.enable_schema_based_sharding = off' });
  await tx.query({ text: `CREATE SCHEMA ${copiesOf(schema)}` });
  const { rows } = await tx.query<{ exist: boolean }>({
    text: "SELECT to_regtype('public.payment_ending') IS NOT NULL AS exist",
  });
  if (!rows[0]!.exist) for (const text of statementsOf('types.sql')) await tx.query({ text });
}

/**
 * Citus puts schemas on its nodes in turn, by a number that every try draws anew. To set the turn itself needs rights that the
 * owner of the database may not have. Other schemas that are made meanwhile take turns too.
 */
async function createSchemaAt(tx: Queryable, schema: string, node: ServerAddress): Promise<void> {
  const nodes = await listNodes(tx);
  for (let tries = 0; tries < 10 * nodes.length; tries++) {
    await tx.query({ text: 'SAVEPOINT before_the_schema' });
    await tx.query({ text: `CREATE SCHEMA ${schema}` });
    const { rows } = await tx.query<{ turn: number }>({
      text: 'SELECT colocationid AS turn FROM pg_dist_schema WHERE schemaid = $1::text::regnamespace',
      values: [schema],
    });
    const { host, port } = nodes[rows[0]!.turn % nodes.length]!;
    if (host === node.host && port === node.port) return;
    await tx.query({ text: 'ROLLBACK TO SAVEPOINT before_the_schema' });
  }
  throw new Error(`the schema ${schema} was never given to the node ${describeServer(node)}`);
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

const citusTriggers = [
  `CREATE TRIGGER accounts_number_their_events BEFORE INSERT ON accounts
     FOR EACH ROW EXECUTE FUNCTION number_account()`,
  `CREATE TRIGGER shard_state_records_its_node BEFORE UPDATE ON shard_state
     FOR EACH ROW EXECUTE FUNCTION record_node()`,
  `CREATE TRIGGER entries_belong_to_the_history BEFORE INSERT ON entries
     FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_history()`,
];

/** The triggers that only a shard on Citus has, once the functions are there. Then the shard joins the current incarnation. */
export async function joinWithTriggers(tx: Queryable): Promise<void> {
  for (const text of citusTriggers) await tx.query({ text });
  const { rows } = await tx.query<{ number: number }>({
    text: 'SELECT coalesce(max(number), 0) AS number FROM public.incarnations',
  });
  await tx.query({ text: 'UPDATE shard_state SET history = $1, node = NULL', values: [rows[0]!.number] });
}

/** The other shards know of a new one from the commit on: payments_open compares it with what its caller knows. */
export async function announceShard(tx: Queryable, distributed: number[], shards: number): Promise<void> {
  for (const shard of distributed)
    await tx.query({ text: `UPDATE ${schemaOf(shard)}.shard_state SET shards = $1`, values: [shards] });
}
