import { openDedicatedConnection } from './dedicated-connection.ts';
import type { Pool } from './pool.ts';

export interface Listener {
  /** False while messages could be missed: whoever relies on them must not, then. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** Hears what other processes announce on a channel; `onMessage` is also called whenever something may have been missed. */
export function listen(pool: Pool, channel: string, onMessage: () => void): Listener {
  const { client, close } = openDedicatedConnection(pool, 'listener', async session => {
    session.on('notification', onMessage);
    await session.query(`LISTEN ${channel}`);
    onMessage();
  });
  return { isListening: () => client() !== undefined, close };
}
