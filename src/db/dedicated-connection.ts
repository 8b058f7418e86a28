import pg from 'pg';
import { connectionDefaults, type Pool } from './pool.ts';

const reconnectDelayMs = 500;

export interface DedicatedConnection {
  /** The current session; undefined until it has been set up and while there is none. */
  client(): pg.Client | undefined;
  /** Drops a session that does not answer; a new one is opened. */
  reconnect(): void;
  close(): Promise<void>;
}

/**
 * A session outside the pool, for what lives as long as a session: advisory locks and LISTEN. It is opened again
 * whenever it breaks, and `setUp` runs on each new session first.
 */
export function openDedicatedConnection(
  pool: Pool,
  name: string,
  setUp: (client: pg.Client) => Promise<void>,
): DedicatedConnection {
  let current: pg.Client | undefined;
  let connecting: pg.Client | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const client = clientLike(pool, name);
    connecting = client;
    client.once('end', () => {
      current = undefined;
      if (!isClosed) retry = setTimeout(() => void connect(), reconnectDelayMs);
    });
    try {
      await client.connect();
      await verify(pool, client);
      await setUp(client);
      if (!isClosed && connecting === client) current = client;
    } catch {
      await client.end().catch(() => {});
    }
  }
  void connect();

  return {
    client: () => current,
    reconnect: () => {
      current = undefined;
      // Destroyed and not ended: a server that does not answer would not answer to that either.
      (
        connecting as unknown as { connection: { stream: NodeJS.WritableStream & { destroy(): void } } }
      )?.connection.stream.destroy();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      current = undefined;
      await connecting?.end().catch(() => {});
    },
  };
}

/** A client for the server of the pool, not yet connected. */
function clientLike(pool: Pool, name: string, limits: pg.ClientConfig = {}): pg.Client {
  const { host, port, user, database, password, connectionString, ssl, options } = pool.options;
  const connection = { host, port, user, database, password, connectionString, ssl, options };
  const known = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
  const names = { application_name: `kopeck ${name}` };
  const client = new pg.Client({ ...connectionDefaults, ...known, ...names, ...limits });
  // Its end is noticed otherwise; without a listener the event would end the process.
  client.on('error', () => {});
  return client;
}

/** What the pool does with each of its new connections. */
const verify = (pool: Pool, client: pg.Client) =>
  new Promise<void>((resolve, reject) => {
    if (!pool.options.verify) return resolve();
    pool.options.verify(client as pg.PoolClient, error => (error ? reject(error) : resolve()));
  });

/** Opens a connection like those of the pool, checks it as the pool does, and closes it again. */
export async function tryConnection(pool: Pool, name: string, limits: pg.ClientConfig): Promise<void> {
  const client = clientLike(pool, name, limits);
  try {
    await client.connect();
    await verify(pool, client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Fails if the session does not answer in time. (The driver knows `query_timeout` of one statement, its types do not.) */
export async function ping(client: pg.Client, timeoutMs: number): Promise<void> {
  await client.query({ text: 'SELECT 1', query_timeout: timeoutMs } as pg.QueryConfig);
}
