import type { Pool } from './pool.ts';
import { keepConnection } from './standing.ts';

export interface Listener {
  /** False while messages could be missed: whoever relies on them must not, then. */
  isListening(): boolean;
  close(): Promise<void>;
}

/** Hears what other processes announce on a channel; `onMessage` is also called whenever something may have been missed. */
export function listen(pool: Pool, channel: string, onMessage: () => void): Listener {
  const { client, close } = keepConnection(pool, 'listener', async session => {
    session.on('notification', onMessage);
    await session.query(`LISTEN ${channel}`);
    onMessage();
  });
  return { isListening: () => client() !== undefined, close };
}
