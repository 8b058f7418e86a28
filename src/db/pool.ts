import pg from 'pg';

/** `query_timeout` overrides the client's limit for one statement; the driver knows it, its types do not. */
export type Statement = pg.QueryConfig & { query_timeout?: number };

/** What a function needs to run statements: the pool (each statement its own transaction), or a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
}

export type Pool = pg.Pool;

/**
 * The server ends a statement after this long; the client gives up a little later, in case the server is frozen. All
 * are short: whoever waits longer than this is better told so, and asks again.
 */
const statementTimeoutMs = 6_000;
const clientTimeoutMs = 8_000;
const lockTimeoutMs = 3_000;
const connectTimeoutMs = 3_000;

const int8 = pg.types.builtins.INT8;
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === int8 ? BigInt : pg.types.getTypeParser(oid, format as 'text');

/** 64-bit integers arrive as `bigint`: money must not pass through a float on its way here. */
export const connectionDefaults: pg.ClientConfig = {
  application_name: 'kopeck',
  types: { getTypeParser },
  keepAlive: true,
  connectionTimeoutMillis: connectTimeoutMs,
  statement_timeout: statementTimeoutMs,
  query_timeout: clientTimeoutMs,
  lock_timeout: lockTimeoutMs,
  idle_in_transaction_session_timeout: clientTimeoutMs,
};

export function openPool(connection: pg.ClientConfig, max = 10): Pool {
  const pool = new pg.Pool({ ...connectionDefaults, ...connection, max });
  // A connection that breaks while idle is dropped by the pool, which opens another when one is needed. Without
  // a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

/**
 * Runs `work` in one transaction. Its statements can only go through the handle it is given, which stops working
 * the moment the transaction is over or its connection is in doubt: nothing meant for inside can run outside.
 */
export async function transaction<Result>(
  pool: Pool,
  work: (tx: Queryable) => Promise<Result>,
  begin = 'BEGIN',
): Promise<Result> {
  const client = await pool.connect();
  let over: string | undefined;
  let connectionInDoubt = false;
  const onConnectionLost = () => {
    over ??= 'its connection was lost';
    connectionInDoubt = true;
  };
  client.on('error', onConnectionLost);

  const run: Queryable['query'] = async statement => {
    try {
      return await client.query(statement);
    } catch (error) {
      // The server's own errors leave the connection in step; a time-out or a broken socket does not.
      if (!(error instanceof pg.DatabaseError)) onConnectionLost();
      throw error;
    }
  };
  const tx: Queryable = {
    query: statement =>
      over
        ? Promise.reject(new Error(`no statement may follow in this transaction: ${over}`))
        : run(statement),
  };

  try {
    await run({ text: begin });
    const result = await work(tx);
    over ??= 'it was committed';
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK, and no error.
    const { command } = await run({ text: 'COMMIT' });
    if (command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back');
    return result;
  } catch (error) {
    over ??= 'it failed';
    if (!connectionInDoubt) await run({ text: 'ROLLBACK' }).catch(() => {});
    throw error;
  } finally {
    client.off('error', onConnectionLost);
    client.release(connectionInDoubt);
  }
}

/** The server's own code for an error, by appendix A of its manual; undefined for what is not the server's word. */
export const sqlStateOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

const deadlockTries = 3;

/**
 * Locks are taken in one order, so a deadlock needs somebody else's hand in the tables. It wrote nothing, and trying
 * again is safe; but only for a statement on the pool, since inside a transaction all is lost.
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

/** Data out of range (22…) and broken constraints (23…): nothing else depends on what a single item says. */
export const isItemError = (error: unknown) => /^2[23]/.test(sqlStateOf(error) ?? '');

class DatabaseSilentError extends Error {}

/**
 * Statements that fail at once while the database is known to keep silent. Whoever has waited for one in vain would
 * otherwise wait as long for the next, and those who queued behind it as well.
 */
export const withCircuitBreaker = (pool: Pool, isAnswering: () => boolean): Queryable => ({
  query: statement =>
    isAnswering()
      ? pool.query(statement)
      : Promise.reject(new DatabaseSilentError('the database does not answer')),
});

/** What the driver says when a connection fails or ends; it gives such errors no code. */
const lostConnection =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|The server does not support SSL|Client has encountered a connection error)/;

/** No connection, or none any more: nothing is known of a statement that was under way. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseSilentError) return true;
  if (error instanceof pg.DatabaseError) return error.code?.startsWith('57P') ?? false;
  return 'syscall' in error || (error.constructor === Error && lostConnection.test(error.message));
}

/** The server gave up waiting (for its own time limit, for a lock) or has no room for more. */
const overburdened = /^(57014|55P03|40P01|53)/;

/** The database is away or overburdened: whoever asks again later may well be served. */
export const isDatabaseUnavailable = (error: unknown) =>
  isDatabaseUnreachable(error) || overburdened.test(sqlStateOf(error) ?? '');
