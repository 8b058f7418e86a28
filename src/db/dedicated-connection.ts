import pg from 'pg';
import { connectionDefaults, type Pool } from './pool.ts';

const reconnectMs = 500;

export interface DedicatedConnection {
  /** The session, while there is one that has been set up. */
  client(): pg.Client | undefined;
  /** Drops a session that does not answer; another one is made. */
  reconnect(): void;
  close(): Promise<void>;
}

/**
 * A session of its own beside the pool, for what lives as long as a session does. It is made anew whenever it
 * breaks, and `setUp` runs on each before it counts.
 */
export function openDedicatedConnection(
  pool: Pool,
  name: string,
  setUp: (client: pg.Client) => Promise<void>,
): DedicatedConnection {
  let current: pg.Client | undefined;
  let connecting: pg.Client | undefined;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const { host, port, user, database, password, connectionString, ssl } = pool.options;
    const connection = { host, port, user, database, password, connectionString, ssl };
    const known = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
    const client = new pg.Client({ ...connectionDefaults, ...known, application_name: `kopeck ${name}` });
    connecting = client;
    client.on('error', () => {});
    client.once('end', () => {
      current = undefined;
      if (!closed) retry = setTimeout(() => void connect(), reconnectMs);
    });
    try {
      await client.connect();
      await setUp(client);
      if (!closed && connecting === client) current = client;
    } catch {
      await client.end().catch(() => {});
    }
  }
  void connect();

  return {
    client: () => current,
    reconnect: () => {
      current = undefined;
      // Not politely: whoever does not answer would not answer to a farewell either.
      (
        connecting as unknown as { connection: { stream: NodeJS.WritableStream & { destroy(): void } } }
      )?.connection.stream.destroy();
    },
    close: async () => {
      closed = true;
      clearTimeout(retry);
      current = undefined;
      await connecting?.end().catch(() => {});
    },
  };
}
