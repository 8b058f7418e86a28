import pg from 'pg';

/** `query_timeout` overrides the client's limit for one statement; the driver has it, its types do not. */
export type Statement = pg.QueryConfig & { query_timeout?: number };

/** What a function needs to run statements: the pool (each statement its own transaction), or a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
}

export type Pool = pg.Pool;

/**
 * The server ends a statement after this time; the client gives up a little later, in case the server is frozen. All
 * limits are short: after such a wait an error and a retry serve the caller better.
 */
const statementTimeoutMs = 6_000;
const clientTimeoutMs = 8_000;
export const lockTimeoutMs = 3_000;
const connectTimeoutMs = 3_000;

const int8 = pg.types.builtins.INT8;
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text');

/**
 * A connection can break without a packet: a cut cable, a firewall that forgets it, a machine that loses power. The server
 * then keeps its session, and the locks in it, for two hours by default. With these it asks after 5 s of silence and ends
 * the session after three more questions without an answer, 2 s apart; unsent answers end it after 10 s. Any role may set
 * them; on a unix socket they have no effect and are not needed.
 */
const serverKeepAlives =
  '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 -c tcp_user_timeout=10000';
const clientKeepAliveDelayMs = 5_000;

/**
 * Set for every session, since the owner of a server, a database or a user may have changed the defaults. Functions that
 * lock a row and then decide need the new snapshot that each statement of READ COMMITTED takes; the driver reads dates in
 * ISO form only.
 */
const sessionSettings = [
  '-c default_transaction_isolation=read\\ committed',
  '-c DateStyle=ISO',
  '-c TimeZone=UTC',
  serverKeepAlives,
].join(' ');

/** The settings of the address, and then ours: the last one counts. */
function withSessionSettings(connection: pg.ClientConfig): pg.ClientConfig {
  const url = connection.connectionString ? new URL(connection.connectionString) : undefined;
  const given = url?.searchParams.get('options') ?? process.env.PGOPTIONS ?? '';
  const options = `${given} ${sessionSettings}`.trim();
  // The driver prefers what the address says to what it is given beside it.
  url?.searchParams.set('options', options);
  return { ...connection, options, ...(url ? { connectionString: `${url}` } : {}) };
}

/** 64-bit integers arrive as `bigint`: money must not pass through a float. */
export const connectionDefaults: pg.ClientConfig = {
  application_name: 'kopeck',
  types: { getTypeParser },
  keepAlive: true,
  keepAliveInitialDelayMillis: clientKeepAliveDelayMs,
  options: sessionSettings,
  connectionTimeoutMillis: connectTimeoutMs,
  statement_timeout: statementTimeoutMs,
  query_timeout: clientTimeoutMs,
  lock_timeout: lockTimeoutMs,
  idle_in_transaction_session_timeout: clientTimeoutMs,
};

/** How to reach the server, and what keeps a pool with it. */
export interface PoolConnection extends pg.ClientConfig, Pick<pg.PoolConfig, 'verify'> {
  /** False: no connection may be used any more, not even one that is open. */
  isCurrent?: () => boolean;
}

export function openPool(connection: PoolConnection, max = 10): Pool {
  const pool = new pg.Pool({ ...connectionDefaults, ...withSessionSettings(connection), max });
  if (connection.isCurrent) fence(pool, connection.isCurrent);
  pool.query = prepareAgain(pool.query.bind(pool)) as typeof pool.query;
  // A connection that breaks while idle is dropped by the pool, which opens another when one is needed. Without
  // a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

/** The pool takes every connection by `connect`, with a callback or without. */
function fence(pool: Pool, isCurrent: () => boolean): void {
  const connect = pool.connect.bind(pool) as (...args: unknown[]) => unknown;
  pool.connect = ((done?: (error: Error) => void) => {
    if (isCurrent()) return connect(done);
    const error = new NotAnsweringError('the database is another one than before');
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

/** The SQLSTATE of an error (appendix A of the manual); undefined for errors that are not the server's. */
export const sqlStateOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

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
 * Data out of range (22…), a broken constraint (23…) or a limit of the server, such as a value too long for its index
 * (54…): errors that a single item of a batch can cause.
 */
export const isItemError = (error: unknown) => /^(2[23]|54)/.test(sqlStateOf(error) ?? '');

/** Without an answer in time: a statement under way may or may not have been carried out. */
export class NotAnsweringError extends Error {}

/**
 * Circuit breaker for the database: statements fail at once while the heartbeat shows that it does not answer. Otherwise
 * every caller would wait for the full timeout, and so would all that queue behind it.
 */
export const withCircuitBreaker = (pool: Pool, isAnswering: () => boolean): Queryable => ({
  query: statement =>
    isAnswering()
      ? pool.query(statement)
      : Promise.reject(new NotAnsweringError('the database does not answer')),
});

/** Messages of the driver when a connection fails or ends; it gives such errors no code. */
const lostConnection =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|The server does not support SSL|Client has encountered a connection error)/;

/**
 * What a proxy or a server that is not in service answers: the connection failed (08), it stops or starts (57P), or it is
 * read-only (25006), as a standby is.
 */
const notInService = /^(08|57P|25006)/;

/** The database is not reached, or was lost: a statement under way may or may not have been carried out. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof NotAnsweringError) return true;
  if (error instanceof pg.DatabaseError) return notInService.test(error.code ?? '');
  // A name with several addresses: each was tried.
  if (error instanceof AggregateError) return error.errors.every(isDatabaseUnreachable);
  return 'syscall' in error || (error.constructor === Error && lostConnection.test(error.message));
}

/** The server stopped waiting (statement timeout, lock timeout, deadlock) or is out of resources. */
const overloaded = /^(57014|55P03|40P01|53)/;

/** The database is unreachable or overloaded: a later retry may succeed. */
export const isDatabaseUnavailable = (error: unknown) =>
  isDatabaseUnreachable(error) || overloaded.test(sqlStateOf(error) ?? '');
