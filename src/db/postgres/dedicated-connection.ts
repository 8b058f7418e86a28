import type pg from 'pg';
import type { Clock } from '../../base/clock.ts';
import { connectionDefaults, type Pool } from './pool.ts';
import { DatabaseClient, dropConnection } from './servers.ts';

const reconnectDelayMs = 500;

export type DedicatedConnection = ReturnType<typeof openDedicatedConnection>;

/**
 * A session outside the pool, for what lives as long as a session: advisory locks and LISTEN. It is opened again
 * whenever it breaks, and `setUp` runs on each new session first.
 */
export function openDedicatedConnection(
  { pool, clock }: { pool: Pool; clock: Clock },
  name: string,
  setUp: (client: pg.Client) => Promise<void>,
) {
  let current: pg.Client | undefined;
  let connecting: pg.Client | undefined;
  let isClosed = false;
  let cancelRetry: (() => void) | undefined;

  async function connect(): Promise<void> {
    const client = clientLike(pool, name);
    connecting = client;
    client.once('end', () => {
      current = undefined;
      connectLater();
    });
    try {
      await client.connect();
      await pool.options.onConnect(client);
      await setUp(client);
      if (!isClosed && connecting === client) current = client;
    } catch {
      await client.end().catch(() => {});
      // A client that found no server has no connection whose end would be reported.
      connectLater();
    }
  }

  function connectLater(): void {
    cancelRetry?.();
    if (!isClosed) cancelRetry = clock.timer(reconnectDelayMs, () => void connect());
  }
  void connect();

  /** Drops a session that does not answer; a new one is opened. */
  function reconnect(): void {
    current = undefined;
    if (connecting) dropConnection(connecting);
  }

  return {
    /** The current session; undefined until it has been set up and while there is none. */
    client: (): pg.Client | undefined => {
      // The old server may go on answering: locks and messages there are those of a history that is over.
      if (current && pool.options.isCurrent?.() === false) reconnect();
      return current;
    },
    reconnect,
    close: async () => {
      isClosed = true;
      cancelRetry?.();
      current = undefined;
      await connecting?.end().catch(() => {});
    },
  };
}

/** A client for the server of the pool, not yet connected. */
function clientLike(pool: Pool, name: string, limits: pg.ClientConfig = {}): pg.Client {
  const { host, port, user, database, password, connectionString, ssl, options, servers } = pool.options;
  const connection = { host, port, user, database, password, connectionString, ssl, options, servers };
  const known = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
  const names = { application_name: `kopeck ${name}` };
  return new DatabaseClient({ ...connectionDefaults, ...known, ...names, ...limits });
}

/** Opens a connection like those of the pool, checks it as the pool does, and closes it again. */
export async function tryConnection(pool: Pool, name: string, limits: pg.ClientConfig): Promise<void> {
  // Not the server to which the last connection went: another one may have taken its place.
  await pool.options.servers?.chooseAgain();
  await withConnection(pool, name, limits, async () => {});
}

/** Does something on a session of its own, which ends afterwards. */
export async function withConnection<Result>(
  pool: Pool,
  name: string,
  limits: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = clientLike(pool, name, limits);
  try {
    await client.connect();
    await pool.options.onConnect(client);
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Fails if the session does not answer in time. (The driver knows `query_timeout` of one statement, its types do not.) */
export async function ping(client: pg.Client, timeoutMs: number): Promise<void> {
  await client.query({ text: 'SELECT 1', query_timeout: timeoutMs } as pg.QueryConfig);
}
