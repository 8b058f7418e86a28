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
    const { host, port, user, database, password, connectionString, ssl, options } = pool.options;
    const connection = { host, port, user, database, password, connectionString, ssl, options };
    const known = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
    const client = new pg.Client({ ...connectionDefaults, ...known, application_name: `kopeck ${name}` });
    connecting = client;
    client.on('error', () => {});
    client.once('end', () => {
      current = undefined;
      if (!isClosed) retry = setTimeout(() => void connect(), reconnectDelayMs);
    });
    try {
      await client.connect();
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

/** Fails if the session does not answer in time. (The driver knows `query_timeout` of one statement, its types do not.) */
export async function ping(client: pg.Client, timeoutMs: number): Promise<void> {
  await client.query({ text: 'SELECT 1', query_timeout: timeoutMs } as pg.QueryConfig);
}
