import type pg from 'pg';
import type { ServerAddress } from '../../base/database-url.ts';
import { NotAnsweringError } from '../database-errors.ts';
import { openPool, type Pool, type Queryable } from '../pool.ts';
import type { ServerChoice } from '../servers.ts';
import { reportsUnreachable } from './availability.ts';
import { schemaOf } from './layout.ts';
import { refuseOtherHistory } from './node-history.ts';
import { knownShards, sessionOf } from './sessions.ts';

/* Which worker of Citus has a shard, and sessions there. See docs/internals/shards.md. */

/** The sessions of a shard on the worker that has it. */
export interface NodePool {
  pool: Pool;
  /** Asks the coordinator where the shard is. Sessions elsewhere are not used again: there Citus only passes statements on. */
  follow(): Promise<void>;
}

/** Sessions on one node, whichever shards it has: for commands. */
export const openPoolAt = (coordinator: Pool, { host, port }: ServerAddress): Pool => {
  const address = { host, port };
  const servers = { choose: async () => address, chooseAgain: async () => address, forget: () => {} };
  return openPool({ ...coordinator.options, session: {}, servers, check: refuseUnfit }, 1);
};

/** `coordinator` is the general pool. */
export function openNodePool(coordinator: Pool, shard: number, max: number): NodePool {
  // Also sessions that nobody would use again soon leave: a move is over when none is left.
  const servers = chooseNode(coordinator, shard, () => void renewIdle(pool));
  const { incarnation } = coordinator.options;
  const options = {
    ...coordinator.options,
    // Not as an option of the driver: an address may have another name.
    session: { ...sessionOf(shard, knownShards(coordinator)), application_name: nameOfSessions(shard) },
    servers,
    check: async (session: Queryable) => {
      await refuseUnfit(session);
      if (incarnation !== undefined) await refuseOtherHistory(session, shard, incarnation);
    },
  };
  const pool = reportsUnreachable(openPool(options, max));
  leaveOtherNodes(pool, servers);
  return { pool, follow: async () => void (await servers.chooseAgain()) };
}

/** Of the sessions of a shard on its node, as `pg_stat_activity` shows it. */
export const nameOfSessions = (shard: number) => `kopeck shard ${shard}`;

/** To take a session is to leave it if it is elsewhere. */
async function renewIdle(pool: Pool): Promise<void> {
  const taken = await Promise.allSettled(Array.from({ length: pool.idleCount }, () => pool.connect()));
  for (const one of taken) if (one.status === 'fulfilled') one.value.release();
}

interface NodeChoice extends ServerChoice {
  /** Undefined: not known, as after a connection that failed. */
  chosen(): ServerAddress | undefined;
}

/** The pool takes every connection by `connect`, with a callback or without. */
function leaveOtherNodes(pool: Pool, { chosen }: NodeChoice): void {
  const connect = pool.connect.bind(pool);
  async function take(): Promise<pg.PoolClient> {
    const client = await connect();
    const node = chosen();
    if (!node || isSame(client as unknown as pg.Client, node)) return client;
    client.release(true);
    return take();
  }
  pool.connect = ((
    done?: (error?: Error, client?: pg.PoolClient, release?: pg.PoolClient['release']) => void,
  ) => {
    const taking = take();
    if (!done) return taking;
    taking.then(client => done(undefined, client, client.release), done);
    return undefined;
  }) as typeof pool.connect;
}

const isSame = (one: ServerAddress, other: ServerAddress) =>
  one.host === other.host && one.port === other.port;

/** While the coordinator does not answer, sessions go where the shard was last. */
function chooseNode(coordinator: Queryable, shard: number, onMoved: () => void): NodeChoice {
  let chosen: ServerAddress | undefined;
  let asking: Promise<ServerAddress> | undefined;
  async function chooseAgain(): Promise<ServerAddress> {
    const found = await findHolder(coordinator, shard);
    if (chosen && isSame(chosen, found)) return chosen;
    const hasMoved = chosen !== undefined;
    chosen = found;
    if (hasMoved) onMoved();
    return chosen;
  }
  return {
    chosen: () => chosen,
    choose: async () => {
      if (chosen) return chosen;
      asking ??= chooseAgain().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    chooseAgain,
    forget: server => {
      if (chosen === server) chosen = undefined;
    },
  };
}

/** The node that has the shard. From the catalog: the views of Citus ask all nodes, and fail while one is down. */
export async function findHolder(coordinator: Queryable, shard: number): Promise<ServerAddress> {
  const { rows } = await coordinator.query<ServerAddress>({
    text: `SELECT n.nodename AS host, n.nodeport AS port
             FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
             JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'
            WHERE s.logicalrelid = to_regclass($1)`,
    values: [`${schemaOf(shard)}.accounts`],
  });
  if (!rows[0]) throw new NotAnsweringError(`no node has the shard ${shard}`);
  return rows[0];
}

/** A worker must be a primary that loses no commit in a crash. */
async function refuseUnfit(session: Queryable): Promise<void> {
  const { rows } = await session.query<{ is_standby: boolean; is_durable: boolean }>({
    text: `SELECT pg_is_in_recovery() AS is_standby,
                  bool_and(setting <> 'off') AS is_durable FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')`,
  });
  if (rows[0]!.is_standby) throw new NotAnsweringError('the node of the shard is a read-only standby');
  if (!rows[0]!.is_durable)
    throw new NotAnsweringError(
      'the node of the shard could lose payments in a crash: fsync, full_page_writes or synchronous_commit is off',
    );
}
