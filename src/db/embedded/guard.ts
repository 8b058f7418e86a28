import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';

const program = join(import.meta.dirname, 'stop-unused.ts');

/** The shell waits for the end of its input. Node, which takes forty times its memory, runs only if the server still does. */
const script = 'read _; kill -0 "$1" && exec "$2" "$3" "$1" "$4"';

/**
 * Stops the server in `dir` when this process and all others that use the server are gone, however they ended. Without this, a
 * server would outlive a service that was killed, or whose shutdown took too long. The guard's input ends with this process.
 */
export function guardServer(pid: number, dir: string): void {
  const guard = spawn('sh', ['-c', script, 'sh', `${pid}`, process.execPath, program, dir], {
    // Ctrl-C must not reach it.
    detached: true,
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a guard the next start joins a server that was left behind.
  guard.on('error', () => {});
  guard.stdin.on('error', () => {});
  (guard.stdin as Socket).unref();
  guard.unref();
}
