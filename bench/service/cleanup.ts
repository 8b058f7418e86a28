import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from '../process.ts';

type CloseFunction = () => Promise<void>;

const cleanups = new Set<CloseFunction>();

/** Closes something exactly once: by its user, at the end of the bench, or on Ctrl-C. */
export function closeOnce(close: CloseFunction): CloseFunction {
  let closed: Promise<void> | undefined;
  // It stays on the list until it is done, because what was opened before must be closed after it.
  const once = () => {
    closed ??= close().finally(() => cleanups.delete(once));
    return closed;
  };
  cleanups.add(once);
  return once;
}

/** A data folder that is removed at the end of the bench. */
export function newFolder(name: string): { dir: string; remove: CloseFunction } {
  const parent = join(import.meta.dirname, '..', '.data');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, `${name}-`));
  return {
    dir,
    remove: closeOnce(async () =>
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
    ),
  };
}

/** In reverse order of opening. */
async function closeAll(): Promise<void> {
  await stopAll();
  for (const close of [...cleanups].reverse()) await close();
}

/** For Ctrl-C and uncaught errors, such as EPIPE when the reader of our output ends. */
export function closeAllWhenEnded(): void {
  let isEnding = false;
  // A signal may come twice, and closing causes errors elsewhere: only the first reason counts.
  const end = (exitCode: number, why: string | Error) => {
    if (isEnding) return;
    isEnding = true;
    console.error(why);
    void closeAll().finally(() => process.exit(exitCode));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => end(130, `Stopping on ${signal} …`));
  process.on('uncaughtException', error => end(1, error));
}
