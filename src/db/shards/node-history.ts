import { type Clock, instantOf } from '../../base/clock.ts';
import { NotAnsweringError } from '../database-errors.ts';
import { withConnection } from '../dedicated-connection.ts';
import { readIdentity, readServer } from '../incarnation/identity.ts';
import { firstFreeNumber } from '../incarnation/join.ts';
import type { Pool, Queryable } from '../pool.ts';
import { schemaOf } from './layout.ts';

/*
 * The history of a node of Citus: a worker can be restored or replaced by its standby, and lose commits, while the coordinator goes
 * on. Each shard records the server that it is on. See docs/internals/shards.md.
 */

/** The server of a shard is not the one on record: it may lack commits, and the next incarnation must begin. */
export class NodeChangedError extends NotAnsweringError {
  readonly shard: number;
  /** On record, and as it is. */
  readonly recorded: string;
  readonly found: string;

  constructor(shard: number, recorded: string, found: string) {
    super(
      `the node of shard ${shard} is not the server on record, as after a restore or the promotion of a standby (server and timeline ${found}; before: ${recorded})`,
    );
    this.shard = shard;
    this.recorded = recorded;
    this.found = found;
  }
}

interface NodeState {
  history: number;
  node: string;
  nextNode: string | null;
  found: string;
}

/** One query, which Citus carries out where the shard is: there the function tells which server that is. */
async function readNodeState(session: Queryable, shard: number): Promise<NodeState> {
  const schema = schemaOf(shard);
  const { rows } = await session.query<NodeState>({
    text: `SELECT history, node, next_node AS "nextNode", ${schema}.node_identity() AS found FROM ${schema}.shard_state`,
  });
  return rows[0]!;
}

/** What `node_identity` gives on this server, also before it has a shard. */
export async function readNodeIdentity(session: Queryable): Promise<string> {
  const { systemIdentifier, timeline } = await readServer(session);
  return `${systemIdentifier}/${timeline}`;
}

/** Fails unless the shard belongs to the incarnation that this process has joined, on the server that it was on then. */
export async function refuseOtherHistory(session: Queryable, shard: number, joined: number): Promise<void> {
  const { history, node, nextNode, found } = await readNodeState(session, shard);
  if (found !== node && found !== nextNode) throw new NodeChangedError(shard, node, found);
  if (history < joined)
    throw new NotAnsweringError(
      `the node of shard ${shard} has an older history (incarnation ${history}, not ${joined}), as of a server that was replaced. If it is the right one, start the service again with --restored`,
    );
  if (history > joined) throw new NotAnsweringError(`shard ${shard} belongs to a newer incarnation`);
}

/** Every account of every shard gets a gap in its numbers. */
const beginWithinMs = 60_000;
const limits = { connectionTimeoutMillis: 4_000, query_timeout: beginWithinMs };

/**
 * Begins the next incarnation, since a node may have lost commits. All processes notice it and join again. In a session of its own:
 * older ones of the coordinator may still be connected to the server that was replaced.
 */
export async function beginAfterNodeChange(
  { pool, clock }: { pool: Pool; clock: Clock },
  { shard, recorded, found }: NodeChangedError,
): Promise<void> {
  await withConnection(pool, 'new history', limits, async session => {
    const { systemIdentifier, timeline, incarnation } = await readIdentity(session);
    const through = await readNodeState(session, shard);
    // Another process has begun it; or the coordinator is led to another server than this process is.
    if (through.found !== found || [through.node, through.nextNode].includes(found)) return;
    await session.query({ text: `SET statement_timeout = ${beginWithinMs}` });
    const place = 'SELECT place FROM incarnations ORDER BY number DESC LIMIT 1';
    await session.query({
      text: `SELECT FROM incarnation_begin($1, $2, $3, (${place}), $4, $5, false, $6, $5)`,
      values: [
        incarnation!.number,
        systemIdentifier,
        timeline,
        systemOf(recorded) === systemOf(found) ? 'promotion' : 'copy',
        instantOf(clock),
        firstFreeNumber(clock.nowMs()),
      ],
    });
  });
}

const systemOf = (node: string) => node.split('/')[0];
