import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const lockTimeoutMs = 2_000;

/**
 * Two processes appending to one journal would each miss the other's records. So a folder is locked for one simulator,
 * by a socket that the system closes with the process, however it ends. False: another one has the lock and keeps it.
 */
export async function lockFolder(dir: string): Promise<boolean> {
  const { dev, ino } = statSync(dir);
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  // Linux has abstract sockets, which leave no file behind.
  const isFile = process.platform !== 'linux';
  const path = isFile ? join(dir, 'lock.sock') : `\0kopeck-simulator-${name}`;
  // A previous process may just be ending.
  for (const untilMs = Date.now() + lockTimeoutMs; Date.now() < untilMs; await sleep(50)) {
    if (await canListen(path)) return true;
    if (isFile && !(await isInUse(path))) rmSync(path, { force: true });
  }
  return false;
}

async function canListen(path: string): Promise<boolean> {
  const server = createServer(socket => socket.destroy()).unref();
  server.listen(path);
  return once(server, 'listening').then(
    () => true,
    () => false,
  );
}

async function isInUse(path: string): Promise<boolean> {
  const socket = connect(path);
  return once(socket, 'connect').then(
    () => socket.destroy() && true,
    () => false,
  );
}
