import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * One process at a time may start a server in a folder; undefined while another one does. The lock is an abstract socket,
 * which Linux closes with the process however it ends. On other systems PostgreSQL's own lock file must be enough.
 */
export async function acquireStartLock(dir: string): Promise<{ release(): void } | undefined> {
  if (process.platform !== 'linux') return { release: () => {} };
  const name = createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 32);
  const holder = createServer(socket => socket.destroy()).unref();
  // Exclusive: workers of a cluster that share a port would share this socket as well.
  holder.listen({ path: `\0kopeck-start-${name}`, exclusive: true });
  return once(holder, 'listening').then(
    () => ({ release: () => void holder.close() }),
    () => undefined,
  );
}
