import { readFileSync } from 'node:fs';
import { type Clock, instantOf } from '../../src/base/clock.ts';
import { type Pool, type Queryable, transaction } from '../../src/db/pool.ts';
import { findRoles, grantRolesIn } from '../../src/db/roles.ts';
import { distributedShards, prepareCitus } from '../../src/db/shards/citus.ts';
import { listShards, schemaOf, schemaOfAll, shardRelations } from '../../src/db/shards/layout.ts';
import { createViews } from '../../src/db/shards/views.ts';
import { createFunctions, type FunctionSet, loadFunctions } from '../../src/db/sql-functions.ts';
import { splitStatements } from '../../src/db/sql-statements.ts';
import {
  announceShard,
  citusStatement,
  createCitusTables,
  createDistributedSchema,
  hasCitus,
  numberAccounts,
} from './create-citus-shard.ts';

const database = new URL('../../database/', import.meta.url);

/** Its relation, for a statement of schema.sql. */
function relationOf(statement: string): string | undefined {
  const patterns = [
    /^CREATE (?:UNLOGGED )?TABLE \w+ PARTITION OF (\w+)/,
    /^CREATE (?:UNLOGGED )?TABLE (\w+)/,
    /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/,
    /^CREATE TRIGGER \w+ [^;]*? ON (\w+)/s,
    /^ALTER TABLE (\w+)/,
    /^COMMENT ON COLUMN (\w+)\./,
    /^CREATE VIEW (\w+)/,
  ];
  for (const pattern of patterns) {
    const found = pattern.exec(statement)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Event numbers of a shard begin here, so that they are unique over all shards and have at most 18 digits. */
const eventsPerShard = 10n ** 15n;

/**
 * Makes the next shard, in one transaction: its schema, as that of shard 0, its functions and grants, and its part of the
 * views over all shards. From its commit on live payments are opened only by sessions that know it: see
 * docs/internals/shards.md.
 */
export function createShard(pool: Pool, clock: Clock): Promise<number> {
  return transaction(pool, async tx => {
    await tx.query({ text: 'LOCK TABLE public.shards IN EXCLUSIVE MODE' });
    const before = await listShards(tx);
    const number = before.length;
    const functions = loadFunctions(database);
    const isDistributed = await hasCitus(tx);
    if (isDistributed) {
      await prepareCitus(tx);
      await createTablesOnCitus(tx, number, functions);
    } else await createTables(tx, number, functions);
    // Openings lock accounts. Those under way end first, and the next ones see the new shard.
    for (const schema of before.map(schemaOf))
      await tx.query({
        text: `LOCK TABLE ${schema}.accounts, ${schema}.code_reservations IN EXCLUSIVE MODE`,
      });
    await tx.query({
      text: 'INSERT INTO public.shards (number, created_at) VALUES ($1, $2)',
      values: [number, instantOf(clock)],
    });
    const shards = [...before, number];
    if (isDistributed) await announceShard(tx, await distributedShards(tx, before), shards.length);
    await createViews(tx, shards);
    await createFunctions(tx, functions, schemaOfAll, false);
    await moveReservations(tx, shards);
    const roles = await findRoles(tx);
    for (const run of roles.run) await grantRolesIn(tx, { run });
    for (const read of roles.read) await grantRolesIn(tx, { read });
    return number;
  });
}

const isTrigger = (statement: string) => /^(?:CREATE TRIGGER|ALTER TABLE \w+ ENABLE)/.test(statement);

/** What schema.sql has for a shard, but for a trigger that does nothing any more: tables with their indexes and views, and triggers. */
function readTables(): { tables: string[]; triggers: string[] } {
  const [dump = ''] = readFileSync(new URL('schema.sql', database), 'utf8').split('\nFUNCTION ');
  const statements = splitStatements(dump).filter(statement =>
    shardRelations.includes(relationOf(statement) ?? ''),
  );
  return {
    tables: statements.filter(statement => !isTrigger(statement)),
    triggers: statements.filter(
      statement => isTrigger(statement) && !statement.includes('events_are_delivered'),
    ),
  };
}

async function createTables(tx: Queryable, shard: number, functions: FunctionSet): Promise<void> {
  const schema = schemaOf(shard);
  const { tables, triggers } = readTables();
  await tx.query({ text: `CREATE SCHEMA ${schema}` });
  await tx.query({ text: `SET LOCAL search_path = ${schema}, public, pg_temp` });
  for (const text of tables) await tx.query({ text });
  await createFunctions(tx, functions, schema, false);
  for (const text of triggers) await tx.query({ text });
  const first = BigInt(shard) * eventsPerShard + 1n;
  await tx.query({
    text: `ALTER TABLE events ALTER COLUMN id SET MINVALUE ${first} SET MAXVALUE ${first + eventsPerShard - 2n}
             SET START WITH ${first} RESTART`,
  });
}

async function createTablesOnCitus(tx: Queryable, shard: number, functions: FunctionSet): Promise<void> {
  const schema = schemaOf(shard);
  const { tables, triggers } = readTables();
  await createDistributedSchema(tx, schema);
  await tx.query({ text: `SET LOCAL search_path = ${schema}, public, pg_temp` });
  for (const text of tables) await tx.query({ text: citusStatement(text) });
  await createCitusTables(tx, shard, shard + 1);
  await createFunctions(tx, functions, schema, true);
  for (const text of triggers) await tx.query({ text });
  await numberAccounts(tx);
}

/** The SQL for the place of a code: the number of its shard. */
const placeSql = (code: string, shards: number) =>
  `(('x' || left(encode(sha256(convert_to(${code}, 'UTF8')), 'hex'), 8))::bit(32)::bigint % ${shards})`;

/**
 * The place of a code depends on the number of shards. Nothing is opened meanwhile; what a process reserves at the old place later
 * is of no use to it, since its openings fail.
 */
async function moveReservations(tx: Queryable, shards: number[]): Promise<void> {
  const all = shards.map(shard => schemaOf(shard));
  const known = shards.slice(0, -1).map(shard => schemaOf(shard));
  await tx.query({
    text:
      known.length === 1
        ? `CREATE TEMP TABLE held_codes ON COMMIT DROP AS
             SELECT qrc_id, partner_id, ARRAY[payment_id] AS payment_ids FROM public.open_payments WHERE mode = 'live'`
        : `CREATE TEMP TABLE held_codes ON COMMIT DROP AS ${known
            .map(schema => `SELECT * FROM ${schema}.code_reservations`)
            .join(' UNION ALL ')}`,
  });
  for (const [place, schema] of all.entries()) {
    await tx.query({ text: `DELETE FROM ${schema}.code_reservations` });
    await tx.query({
      text: `INSERT INTO ${schema}.code_reservations (qrc_id, partner_id, payment_ids)
               SELECT qrc_id, partner_id, payment_ids FROM held_codes
                WHERE ${placeSql('qrc_id', all.length)} = ${place}`,
    });
  }
}
