import { instantOf } from '../../base/clock.ts';
import { describeServer, type ServerAddress } from '../../base/database-url.ts';
import { type AuditContext, recordChange } from '../audit.ts';
import { firstFreeNumber } from '../incarnation/join.ts';
import { hasOwnSchema, lockSchema, ownDatabase } from '../migrate.ts';
import { type Queryable, sqlStateOf, transaction } from '../pool.ts';
import { findRoles, grantRolesIn } from '../roles.ts';
import { createFunctions, type FunctionSet, loadFunctions } from '../sql-functions.ts';
import { distributedShards, prepareCitus } from './citus.ts';
import { type CitusNode, findNode, leastFilled, listNodes } from './citus-nodes.ts';
import {
  announceShard,
  citusStatement,
  createCitusTables,
  createDistributedSchema,
  hasCitus,
  joinWithTriggers,
} from './create-on-citus.ts';
import { listShards, schemaOf, schemaOfAll } from './layout.ts';
import { moveReservations } from './move-reservations.ts';
import { readShardStatements } from './schema-statements.ts';
import { createViews } from './views.ts';

export type ShardCreation =
  | { outcome: 'created'; shard: number; node: ServerAddress | undefined; reservedCodes: number }
  /** There is a shard with this number already. */
  | { outcome: 'exists'; shard: number }
  | { outcome: 'not_next'; next: number }
  /** Event numbers have room for no more. */
  | { outcome: 'full' }
  /** With Citus: none of its nodes may have shards. */
  | { outcome: 'no_nodes' }
  /** The one that was asked for is none of these; undefined without Citus. */
  | { outcome: 'unknown_node'; node: ServerAddress; nodes: CitusNode[] | undefined }
  /** The schema is not the one that this version would give the shard. */
  | { outcome: 'other_schema' }
  /** Tables were in use, or another process changed the schema, each time. */
  | { outcome: 'busy' };

export interface CreationOptions {
  /** The number that the new shard must get: a repeated call makes no second one. */
  number?: number | undefined;
  /** With Citus: where it is made. By default on the node with the fewest shards. */
  node?: ServerAddress | undefined;
  /** After each try that found a table in use. */
  onBusy?: (tries: number) => void;
}

export const maxShards = 999;
const maxTries = 20;
const pauseMs = 500;
/**
 * Payments wait behind a lock that is waited for, so the wait is short. It is also shorter than `deadlock_timeout`: if another
 * transaction and this one wait for each other, this one gives up.
 */
const lockTimeoutMs = 500;
/** A lock that was not granted in time; or a deadlock, on a server that looks for them earlier. */
const isBusyError = (error: unknown) => ['55P03', '40P01'].includes(sqlStateOf(error) ?? '');

/**
 * Makes the next shard in one transaction: its schema, as that of shard 0, its functions and grants, its part of the views over all
 * shards, and the codes of unfinished payments at their new places. From its commit on live payments are opened only by
 * sessions that know it. The crash points are in docs/internals/shards.md.
 */
export async function createShard(
  audit: AuditContext,
  { onBusy, ...wanted }: CreationOptions = {},
): Promise<ShardCreation> {
  for (let tries = 1; ; tries++) {
    const result = await transaction(audit.pool, tx => createIn(tx, audit, wanted)).catch(error => {
      if (!isBusyError(error)) throw error;
      return { outcome: 'busy' } as const;
    });
    if (result.outcome !== 'busy' || tries === maxTries) return result;
    onBusy?.(tries);
    await audit.clock.sleep(pauseMs);
  }
}

async function createIn(
  tx: Queryable,
  audit: AuditContext,
  { number: wanted, node: wantedNode }: CreationOptions,
): Promise<ShardCreation> {
  await tx.query({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
  // A migration that runs for each shard must see this one, or be over.
  if (!(await lockSchema(tx))) return { outcome: 'busy' };
  await tx.query({ text: 'LOCK TABLE public.shards IN EXCLUSIVE MODE' });
  const before = await listShards(tx);
  const next = before.length;
  if (wanted !== undefined && wanted < next) return { outcome: 'exists', shard: wanted };
  if (wanted !== undefined && wanted > next) return { outcome: 'not_next', next };
  if (next === maxShards) return { outcome: 'full' };
  if (!(await hasOwnSchema(tx))) return { outcome: 'other_schema' };
  const nodes = (await hasCitus(tx)) ? await listNodes(tx) : undefined;
  if (nodes?.length === 0) return { outcome: 'no_nodes' };
  const node = wantedNode ? findNode(nodes ?? [], wantedNode) : nodes && leastFilled(nodes);
  if (wantedNode && !node) return { outcome: 'unknown_node', node: wantedNode, nodes };
  await makeSchema(tx, audit, before, node);
  const reservedCodes = await moveUnderLocks(tx, before);
  await tx.query({ text: 'SET LOCAL search_path = public, pg_temp' });
  await recordChange(tx, audit, {
    action: 'shard.create',
    subject: schemaOf(next),
    after: {
      shards: next + 1,
      reserved_codes: reservedCodes,
      ...(node ? { node: describeServer(node) } : {}),
    },
  });
  return { outcome: 'created', shard: next, node, reservedCodes };
}

/** The slow steps, before payments have to wait. */
async function makeSchema(
  tx: Queryable,
  { clock }: AuditContext,
  before: number[],
  node: ServerAddress | undefined,
): Promise<void> {
  const shard = before.length;
  const shards = [...before, shard];
  const functions = loadFunctions(ownDatabase);
  if (node) {
    await prepareCitus(tx);
    await createTablesOnCitus(tx, shard, functions, node);
  } else {
    await createTables(tx, shard, functions);
    await numberEvents(tx, shard, clock.nowMs());
  }
  await tx.query({
    text: 'INSERT INTO public.shards (number, created_at) VALUES ($1, $2)',
    values: [shard, instantOf(clock)],
  });
  if (node) await announceShard(tx, await distributedShards(tx, before), shards.length);
  await createViews(tx, shards);
  await createFunctions(tx, functions, schemaOfAll, false);
  const roles = await findRoles(tx);
  for (const run of roles.run) await grantRolesIn(tx, { run });
  for (const read of roles.read) await grantRolesIn(tx, { read });
}

/** Openings lock rows of accounts. Those under way end first, and the next ones wait for our commit and see the new shard. */
async function moveUnderLocks(tx: Queryable, before: number[]): Promise<number> {
  // Accounts before codes, as the sweeper does.
  for (const table of ['accounts', 'code_reservations'])
    await tx.query({
      text: `LOCK TABLE ${before.map(shard => `${schemaOf(shard)}.${table}`).join(', ')} IN EXCLUSIVE MODE`,
    });
  return moveReservations(tx, before);
}

async function createTables(tx: Queryable, shard: number, functions: FunctionSet): Promise<void> {
  const schema = schemaOf(shard);
  const { tables, triggers } = readShardStatements(ownDatabase);
  await tx.query({ text: `CREATE SCHEMA ${schema}` });
  await tx.query({ text: `SET LOCAL search_path = ${schema}, public, pg_temp` });
  for (const text of tables) await tx.query({ text });
  await createFunctions(tx, functions, schema, false);
  for (const text of triggers) await tx.query({ text });
}

/** Event numbers of a shard begin here, so that they are unique over all shards and have at most 18 digits. */
const eventsPerShard = 10n ** 15n;

/**
 * After a loss of commits a shard with this number may have existed before, in the lost history: numbers begin where that one
 * cannot have come by now.
 */
async function numberEvents(tx: Queryable, shard: number, nowMs: number): Promise<void> {
  const { rowCount } = await tx.query({
    text: "SELECT FROM public.incarnations WHERE cause <> 'first_start' LIMIT 1",
  });
  const first = BigInt(shard) * eventsPerShard + 1n;
  const start = rowCount === 0 ? first : first + firstFreeNumber(nowMs);
  await tx.query({
    text: `ALTER TABLE events ALTER COLUMN id SET MINVALUE ${first} SET MAXVALUE ${first + eventsPerShard - 2n}
             SET START WITH ${start} RESTART`,
  });
}

async function createTablesOnCitus(
  tx: Queryable,
  shard: number,
  functions: FunctionSet,
  node: ServerAddress,
): Promise<void> {
  const schema = schemaOf(shard);
  const { tables, triggers } = readShardStatements(ownDatabase);
  await createDistributedSchema(tx, schema, node);
  await tx.query({ text: `SET LOCAL search_path = ${schema}, public, pg_temp` });
  for (const text of tables) await tx.query({ text: citusStatement(text) });
  await createCitusTables(tx, shard, shard + 1);
  await createFunctions(tx, functions, schema, true);
  for (const text of triggers) await tx.query({ text });
  await joinWithTriggers(tx);
}
