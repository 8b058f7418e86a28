import type { Clock } from '../../base/clock.ts';
import { describeServer, type ServerAddress } from '../../base/database-url.ts';
import { type AuditContext, recordChange } from '../audit.ts';
import { withConnection } from '../dedicated-connection.ts';
import { hasOwnSchema, lockSchema } from '../migrate.ts';
import { type Pool, type Queryable, transaction } from '../pool.ts';
import { distributedShards } from './citus.ts';
import { type CitusNode, findNode, listNodes, onNode } from './citus-nodes.ts';
import { listShards, schemaOf } from './layout.ts';
import { readNodeIdentity } from './node-history.ts';
import { findHolder, nameOfSessions } from './nodes.ts';

export type ShardMove =
  /** `sessionsLeft`: of processes that have not followed the shard in time; undefined if the old node cannot be asked. */
  | { outcome: 'moved'; from: ServerAddress; to: CitusNode; sessionsLeft: number | undefined }
  /** Also after a move whose command was interrupted at its end. */
  | { outcome: 'already_there'; to: CitusNode }
  | { outcome: 'no_shard' }
  /** Its tables are plain ones of the coordinator. */
  | { outcome: 'not_distributed' }
  | { outcome: 'unknown_node'; nodes: CitusNode[] }
  /** Another move of this shard goes on, perhaps of a command that was killed. */
  | { outcome: 'moving' }
  /** Logical replication copies the rows while they change. */
  | { outcome: 'not_logical'; node: ServerAddress }
  /** The target has a copy of an earlier move, which Citus cannot remove because a session reads it. */
  | { outcome: 'copy_in_use' }
  | { outcome: 'other_schema' }
  /** A migration, or the creation or move of a shard, is under way. */
  | { outcome: 'busy' };

/** How far a move has come. */
export interface MoveProgress {
  /** As Citus calls it. */
  phase: string;
  copiedBytes: number;
  bytes: number;
}

interface MoveOptions {
  /** Every second. */
  onProgress?(progress: MoveProgress): void;
  /** Fails if the node cannot be used. */
  check?(node: CitusNode): Promise<void>;
  /** To interrupt the move: rolls it back. */
  onStarted?(cancel: () => Promise<void>): void;
  /** From now on it cannot be interrupted any more. */
  onMoved?(): void;
}

/**
 * Moves a shard on Citus to another node while it serves. The crash points are in docs/internals/shards.md. Until the end of the
 * move both nodes are on record for the shard: sessions are used on whichever has it.
 */
export async function moveShard(
  audit: AuditContext,
  shard: number,
  target: ServerAddress,
  options: MoveOptions = {},
): Promise<ShardMove> {
  const { pool } = audit;
  const shards = await listShards(pool);
  if (!shards.includes(shard)) return { outcome: 'no_shard' };
  if (!(await distributedShards(pool, shards)).includes(shard)) return { outcome: 'not_distributed' };
  const nodes = await listNodes(pool);
  const to = findNode(nodes, target);
  if (!to) return { outcome: 'unknown_node', nodes };
  if (await readProgress(pool, shard)) return { outcome: 'moving' };
  const from = await findHolder(pool, shard);
  const isThere = findNode([to], from) !== undefined;
  if (!isThere) await options.check?.(to);
  const identity = await onNode(pool, to, readNodeIdentity);
  if (isThere) {
    await endMove(audit, { shard, identity, to });
    return { outcome: 'already_there', to };
  }
  for (const node of [from, to])
    if (!(await onNode(pool, node, isLogical))) return { outcome: 'not_logical', node };
  const refusal = await carryOut(audit, { shard, identity, to }, options);
  if (refusal) return { outcome: refusal };
  options.onMoved?.();
  await endMove(audit, { shard, identity, to, from });
  return { outcome: 'moved', from, to, sessionsLeft: await untilLeft(audit, shard, from) };
}

/** Processes ask every two seconds where the shard is. Before that, one without a session may open one on the old node. */
const followWithinMs = 3_000;
/** A statement under way may take six seconds. */
const leaveWithinMs = 10_000;

/**
 * Waits until no process has a session of the shard on the node that it has left. Citus passes the statements of such a session on, in
 * two phases: if the old node went away between them, the new one would keep accounts locked. Returns how many are left.
 */
async function untilLeft(
  { pool, clock }: AuditContext,
  shard: number,
  from: ServerAddress,
): Promise<number | undefined> {
  const movedMs = clock.monotonicMs();
  const countSessions = async (node: Queryable) => {
    const { rows } = await node.query<{ count: number }>({
      text: `SELECT count(*)::int AS count FROM pg_stat_activity
              WHERE application_name = $1 AND datname = current_database()`,
      values: [nameOfSessions(shard)],
    });
    return rows[0]!.count;
  };
  return onNode(pool, from, async node => {
    for (;;) {
      const waitedMs = clock.monotonicMs() - movedMs;
      const count = await countSessions(node);
      if (waitedMs > (count === 0 ? followWithinMs : leaveWithinMs)) return count;
      await clock.sleep(200);
    }
    // The shard has moved, whatever becomes of the old node.
  }).catch(() => undefined);
}

interface Step {
  shard: number;
  /** Of the target, as `node_identity` gives it. */
  identity: string;
  to: CitusNode;
  from?: ServerAddress;
}

const isLogical = async (node: Queryable) => {
  const { rows } = await node.query<{ level: string }>({
    text: "SELECT current_setting('wal_level') AS level",
  });
  return rows[0]!.level === 'logical';
};

const reportEveryMs = 1_000;
const sessionLimits = { connectionTimeoutMillis: 4_000, query_timeout: 0 };

const cancelWithinMs = 10_000;

/** Resolves when the move is rolled back. */
async function cancel(pool: Pool, clock: Clock, pid: number): Promise<void> {
  // Citus has a function of this name for its own numbers.
  await pool.query({ text: 'SELECT pg_cancel_backend($1::int)', values: [pid] });
  const untilMs = clock.monotonicMs() + cancelWithinMs;
  const isActive = {
    text: "SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active'",
    values: [pid],
  };
  while (clock.monotonicMs() < untilMs && (await pool.query(isActive)).rowCount === 1) await clock.sleep(100);
}

/** In a session of its own, without time-outs: a large shard takes hours. */
const carryOut = (
  { pool, clock }: AuditContext,
  { shard, identity, to }: Step,
  { onProgress, onStarted }: MoveOptions,
): Promise<'busy' | 'other_schema' | 'copy_in_use' | undefined> =>
  withConnection(pool, 'move', sessionLimits, async session => {
    for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout'])
      await session.query(`SET ${name} = 0`);
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    onStarted?.(() => cancel(pool, clock, rows[0]!.pid));
    await session.query('BEGIN');
    // No migration begins before the end of the move. Without a commit the end of the session rolls back.
    if (!(await lockSchema(session))) return 'busy';
    if (!(await hasOwnSchema(session))) return 'other_schema';
    // On record before the shard is there, so committed by another session.
    await pool.query({
      text: `UPDATE ${schemaOf(shard)}.shard_state SET next_node = $1`,
      values: [identity],
    });
    const report = setInterval(() => {
      void readProgress(pool, shard).then(
        progress => progress && onProgress?.(progress),
        () => {},
      );
    }, reportEveryMs);
    const schema = schemaOf(shard);
    try {
      await session.query("SELECT citus_schema_move($1::text::regnamespace, $2, $3, 'force_logical')", [
        schema,
        to.host,
        to.port,
      ]);
    } catch (error) {
      if (isCopyInUse(error)) return 'copy_in_use';
      throw error;
    } finally {
      clearInterval(report);
    }
    await session.query('COMMIT');
    return undefined;
  });

/** Citus has no SQLSTATE for it. */
const isCopyInUse = (error: unknown) =>
  (error as Error).message.endsWith('leftover from the previous move could not be cleaned up');

/** Only the new node is on record from now on. An incarnation that has begun meanwhile has recorded the node itself. */
const endMove = (audit: AuditContext, { shard, identity, to, from }: Step): Promise<void> =>
  transaction(audit.pool, async tx => {
    const { rowCount } = await tx.query({
      text: `UPDATE ${schemaOf(shard)}.shard_state SET node = $1, next_node = NULL WHERE next_node = $1`,
      values: [identity],
    });
    if (rowCount === 0) return;
    await recordChange(tx, audit, {
      action: 'shard.move',
      subject: schemaOf(shard),
      ...(from ? { before: { node: describeServer(from) } } : {}),
      after: { node: describeServer(to) },
    });
  });

/** Undefined if no move of the shard is under way. */
async function readProgress(pool: Pool, shard: number): Promise<MoveProgress | undefined> {
  const { rows } = await pool.query<{ phase: string; copied: number; bytes: number; tables: number }>({
    text: `SELECT count(*)::int AS tables, max(status) AS phase, sum(target_shard_size)::float8 AS copied,
                  sum(source_shard_size)::float8 AS bytes
             FROM get_rebalance_progress() WHERE starts_with(table_name::text, $1 || '.')`,
    values: [schemaOf(shard)],
  });
  const { tables, phase, copied, bytes } = rows[0]!;
  return tables === 0 ? undefined : { phase: phase.toLowerCase(), copiedBytes: copied, bytes };
}
