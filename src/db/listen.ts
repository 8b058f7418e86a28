import pg from 'pg';
import { connectionDefaults, type Pool } from './pool.ts';

export interface Listener {
  /** False while messages could be missed: whoever relies on them must not, then. */
  isListening(): boolean;
  close(): Promise<void>;
}

const reconnectMs = 1_000;

/** Hears what other processes announce on a channel; `onMessage` is also called whenever something may have been missed. */
export function listen(pool: Pool, channel: string, onMessage: () => void): Listener {
  let client: pg.Client | undefined;
  let listening = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const { host, port, user, database, password, connectionString, ssl } = pool.options;
    const connection = { host, port, user, database, password, connectionString, ssl };
    const known = Object.fromEntries(Object.entries(connection).filter(([, value]) => value !== undefined));
    client = new pg.Client({ ...connectionDefaults, ...known, application_name: 'kopeck listener' });
    client.on('notification', onMessage);
    client.on('error', () => {});
    client.once('end', () => {
      listening = false;
      if (!closed) retry = setTimeout(() => void connect(), reconnectMs).unref();
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      onMessage();
      listening = !closed;
    } catch {
      await client.end().catch(() => {});
    }
  }
  void connect();

  return {
    isListening: () => listening,
    close: async () => {
      closed = true;
      clearTimeout(retry);
      await client?.end().catch(() => {});
    },
  };
}
