import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 2_000;

/**
 * Two programs appending to one journal would each miss what the other wrote. So a folder has one simulator, held by
 * a socket that the system closes with the process, however it ends. False: another one has it and does not leave.
 */
export async function lockFolder(dir: string): Promise<boolean> {
  const { dev, ino } = statSync(dir);
  const name = createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 32);
  // Linux has sockets without a file, which leave nothing behind.
  const isFile = process.platform !== 'linux';
  const path = isFile ? join(dir, 'lock.sock') : `\0kopeck-simulator-${name}`;
  // A predecessor may just be ending.
  for (const untilMs = Date.now() + patienceMs; Date.now() < untilMs; await sleep(50)) {
    if (await listens(path)) return true;
    if (isFile && !(await answers(path))) rmSync(path, { force: true });
  }
  return false;
}

async function listens(path: string): Promise<boolean> {
  const server = createServer(socket => socket.destroy()).unref();
  server.listen(path);
  return once(server, 'listening').then(
    () => true,
    () => false,
  );
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  return once(socket, 'connect').then(
    () => socket.destroy() && true,
    () => false,
  );
}
