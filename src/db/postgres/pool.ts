import pg from 'pg';
import { parseDatabaseUrl } from '../../base/database-url.ts';
import { isDatabaseUnreachable, NotAnsweringError, sqlStateOf } from './database-errors.ts';
import { createServerChoice, DatabaseClient, dropConnection, type ServerChoice } from './servers.ts';
import { applySessionSettings, type SessionTimeouts } from './session-settings.ts';

/** `query_timeout` overrides the client's limit for one statement; the driver has it, its types do not. */
export type Statement = pg.QueryConfig & { query_timeout?: number };

/** What a function needs to run statements: the pool (each statement its own transaction), or a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
}

/**
 * The server ends a statement after this time; the client gives up a little later, in case the server is frozen. All
 * limits are short: after such a wait an error and a retry serve the caller better. A request that gets no connection and
 * then no answer, before the heartbeat has noticed a frozen server, is still answered within 10 s.
 */
const statementTimeoutMs = 6_000;
const clientTimeoutMs = 6_500;
const idleInTransactionMs = 8_000;
export const lockTimeoutMs = 3_000;
const connectTimeoutMs = 3_000;

const { INT8: int8, TIMESTAMPTZ: timestamptz } = pg.types.builtins;
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') => {
  if (oid === int8) return BigInt;
  return oid === timestamptz ? parseInstant : pg.types.getTypeParser(oid, format as 'text');
};

const parseAnyInstant = pg.types.getTypeParser(timestamptz);

/** Five times as fast as the driver's, for the usual form: `2026-11-16 12:34:56.789+00`. */
export const parseInstant = (text: string): Date =>
  text[4] === '-' && text.endsWith('+00')
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : parseAnyInstant(text);

const clientKeepAliveDelayMs = 5_000;

/** 64-bit integers arrive as `bigint`: money must not pass through a float. */
export const connectionDefaults: pg.ClientConfig = {
  application_name: 'kopeck',
  types: { getTypeParser },
  keepAlive: true,
  keepAliveInitialDelayMillis: clientKeepAliveDelayMs,
  connectionTimeoutMillis: connectTimeoutMs,
  query_timeout: clientTimeoutMs,
};

const defaultTimeouts: SessionTimeouts = {
  statement_timeout: statementTimeoutMs,
  lock_timeout: lockTimeoutMs,
  idle_in_transaction_session_timeout: idleInTransactionMs,
};

/** How to reach the server, and what keeps a pool with it. */
export interface PoolConnection extends pg.ClientConfig {
  /** Fails if a new connection must not be used. */
  check?: (session: Queryable) => Promise<void>;
  /** False: no connection may be used any more, not even one that is open. */
  isCurrent?: () => boolean;
  /** Those of another pool whose options are used again. */
  timeouts?: SessionTimeouts;
  servers?: ServerChoice;
}

export interface Pool extends pg.Pool {
  options: pg.PoolOptions & PoolConnection & { onConnect(client: pg.ClientBase): Promise<void> };
}

export function openPool(connection: PoolConnection, max = 10): Pool {
  const timeouts = timeoutsOf(connection);
  // Not the driver's `verify`: if the caller stops waiting while that runs, the pool never gets the connection back.
  const onConnect: Pool['options']['onConnect'] = async client => {
    try {
      await applySessionSettings(client, timeouts);
      await connection.check?.(client);
    } catch (error) {
      // The pool says that it failed when the connection has ended, and a server may not answer to that.
      dropConnection(client as pg.Client);
      throw error;
    }
  };
  const options: pg.PoolConfig & PoolConnection = {
    ...connectionDefaults,
    ...connection,
    ...noTimeouts,
    ...serversOf(connection),
    timeouts,
    onConnect,
    max,
    Client: DatabaseClient,
  };
  const pool = new pg.Pool(options) as Pool;
  if (connection.isCurrent) fence(pool, connection.isCurrent);
  pool.query = prepareAgain(pool.query.bind(pool)) as typeof pool.query;
  // A connection that breaks while idle is dropped by the pool, which opens another when one is needed. Without
  // a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

/**
 * Opens all connections of the pool, one after the other. Opened at the same moment by many callers, they wait for each other: on a
 * busy machine until their time-out. What cannot be opened is opened when it is needed.
 */
export async function openConnections(pool: Pool): Promise<void> {
  const clients: pg.PoolClient[] = [];
  try {
    while (clients.length < pool.options.max) clients.push(await pool.connect());
  } catch {
    // The heartbeat notices a database that does not answer.
  } finally {
    for (const client of clients) client.release();
  }
}

/** The driver would send them in the start-up packet. */
const noTimeouts = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
};

function timeoutsOf({ timeouts, ...given }: PoolConnection): SessionTimeouts {
  const known = timeouts ?? defaultTimeouts;
  return {
    statement_timeout: (given.statement_timeout ?? known.statement_timeout) || 0,
    lock_timeout: given.lock_timeout ?? known.lock_timeout,
    idle_in_transaction_session_timeout:
      given.idle_in_transaction_session_timeout ?? known.idle_in_transaction_session_timeout,
  };
}

/** For an address with several servers: which of them to use, and the address of one, as the driver needs it. */
function serversOf(connection: PoolConnection): PoolConnection {
  if (!connection.connectionString || connection.servers) return {};
  const url = parseDatabaseUrl(connection.connectionString);
  if (url.servers.length === 1) return {};
  const one = { ...connection, connectionString: url.ofFirst };
  return {
    connectionString: url.ofFirst,
    servers: createServerChoice(url, { ...connectionDefaults, ...one }),
  };
}

/** The pool takes every connection by `connect`, with a callback or without. */
function fence(pool: Pool, isCurrent: () => boolean): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  pool.connect = ((done?: (error: Error) => void) => {
    if (isCurrent()) return connect(done);
    const error = new NotAnsweringError('the database has changed');
    return done ? done(error) : Promise.reject(error);
  }) as typeof pool.connect;
}

/**
 * A migration can change what a prepared statement gives, while this process runs. The server then refuses it, before it
 * does anything, for as long as the connection lives. So it is sent once more under a new name, which all connections use
 * from then on.
 */
function prepareAgain(send: (...args: unknown[]) => Promise<unknown>) {
  const versions = new Map<string, number>();
  return async (...args: unknown[]): Promise<unknown> => {
    const [statement, ...rest] = args as [Statement];
    const name = statement?.name;
    if (!name) return send(...args);
    const version = versions.get(name) ?? 1;
    const sendVersion = (number: number) =>
      send(number === 1 ? statement : { ...statement, name: `${name} ${number}` }, ...rest);
    try {
      return await sendVersion(version);
    } catch (error) {
      if (sqlStateOf(error) !== '0A000') throw error;
      // Many calls fail at the same time; the first of them makes the new name.
      if ((versions.get(name) ?? 1) === version) versions.set(name, version + 1);
      return sendVersion(versions.get(name)!);
    }
  };
}

/**
 * Runs `work` in one transaction. The handle it gets stops working when the transaction is over or its connection is
 * lost, so no statement of the transaction can run outside of it.
 */
export async function transaction<Result>(
  pool: Pool,
  work: (tx: Queryable) => Promise<Result>,
  begin = 'BEGIN',
): Promise<Result> {
  const client = await pool.connect();
  let endedBecause: string | undefined;
  let isConnectionLost = false;
  const onConnectionLost = () => {
    endedBecause ??= 'its connection was lost';
    isConnectionLost = true;
  };
  client.on('error', onConnectionLost);

  const run: Queryable['query'] = async statement => {
    try {
      // Not prepared by name: a prepared statement can fail after a migration, and here it could not be repeated.
      const { name: _name, ...unprepared } = statement;
      return await client.query(unprepared);
    } catch (error) {
      // After an error of the server the connection can be used; after a timeout or a broken socket it cannot, and one
      // that leads to the wrong server should not.
      if (!(error instanceof pg.DatabaseError) || isDatabaseUnreachable(error)) onConnectionLost();
      throw error;
    }
  };
  const tx: Queryable = {
    query: statement =>
      endedBecause
        ? Promise.reject(new Error(`no statement may follow in this transaction: ${endedBecause}`))
        : run(statement),
  };

  try {
    await run({ text: begin });
    const result = await work(tx);
    endedBecause ??= 'it was committed';
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error.
    const { command } = await run({ text: 'COMMIT' });
    if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    endedBecause ??= 'it failed';
    if (!isConnectionLost) await run({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  } finally {
    client.off('error', onConnectionLost);
    client.release(isConnectionLost);
  }
}

const deadlockTries = 3;

/**
 * Repeats a statement that ended in a deadlock. We take locks in one order, so a deadlock needs a foreign session that
 * locks our tables. It wrote nothing, so a repeat is safe; but only on the pool, since inside a transaction everything is
 * rolled back.
 */
export async function retryOnDeadlock<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (sqlStateOf(error) !== '40P01' || tries === deadlockTries) throw error;
    }
  }
}

/**
 * Circuit breaker for the database: statements fail at once while the heartbeat shows that it does not answer. Otherwise
 * every caller would wait for the full timeout, and so would all that queue behind it. After a pause of this process itself
 * nothing is known, and a statement waits until it is.
 */
export const withCircuitBreaker = (
  pool: Pool,
  isAnswering: () => boolean,
  afterPause: () => Promise<void> = async () => {},
): Queryable => ({
  query: async statement => {
    if (!isAnswering()) await afterPause();
    if (!isAnswering()) throw new NotAnsweringError('the database does not answer');
    return pool.query(statement);
  },
});
