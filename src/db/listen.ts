import { openDedicatedConnection } from './dedicated-connection.ts';
import type { Pool } from './pool.ts';

export interface Listener {
  /** False while messages could be missed: callers must not rely on what they cached. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** Calls `onMessage` for every NOTIFY on the channel, and whenever one may have been missed. */
export function listen(pool: Pool, channel: string, onMessage: () => void): Listener {
  const { client, close } = openDedicatedConnection(pool, 'listener', async session => {
    session.on('notification', onMessage);
    await session.query(`LISTEN ${channel}`);
    onMessage();
  });
  return { isListening: () => client() !== undefined, close };
}
