import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

export interface StartLock {
  release(): void;
}

/**
 * One process at a time may start a server in a folder; undefined while another one does. Held by a socket without a
 * file, which Linux closes with the process however it ends. Elsewhere PostgreSQL's own lock file has to do.
 */
export async function acquireStartLock(dir: string): Promise<StartLock | undefined> {
  if (process.platform !== 'linux') return { release: () => {} };
  const name = createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 32);
  const holder = createServer(socket => socket.destroy()).unref();
  // Exclusive, or processes that share a port would share this as well.
  holder.listen({ path: `\0kopeck-start-${name}`, exclusive: true });
  return once(holder, 'listening').then(
    () => ({ release: () => void holder.close() }),
    () => undefined,
  );
}
