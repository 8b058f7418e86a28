import { openDedicatedConnection, ping } from './dedicated-connection.ts';
import type { Pool } from './pool.ts';

export interface Listener {
  /** False while messages could be missed: callers must not rely on what they cached. */
  isListening(): boolean;
  close(): Promise<void>;
}

const pingIntervalMs = 2_000;
const pingTimeoutMs = 4_000;

/** Calls `onMessage` for every NOTIFY on the channel, and whenever one may have been missed. */
export function listen(pool: Pool, channel: string, onMessage: () => void): Listener {
  const { client, reconnect, close } = openDedicatedConnection(pool, 'listener', async session => {
    session.on('notification', onMessage);
    await session.query(`LISTEN ${channel}`);
    onMessage();
  });
  // A listener only waits, so without pings it would not notice a connection that broke without a packet.
  let isAsking = false;
  const pings = setInterval(async () => {
    const session = client();
    if (!session || isAsking) return;
    isAsking = true;
    await ping(session, pingTimeoutMs).catch(() => client() === session && reconnect());
    isAsking = false;
  }, pingIntervalMs).unref();
  return {
    isListening: () => client() !== undefined,
    close: () => {
      clearInterval(pings);
      return close();
    },
  };
}
