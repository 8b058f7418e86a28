import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from '../process.ts';

type Closing = () => Promise<void>;

const cleanups = new Set<Closing>();

/** Makes sure that something is closed once, whoever comes first: its user, the end of the bench, or Ctrl-C. */
export function closing(close: Closing): Closing {
  let closed: Promise<void> | undefined;
  // It stays on the list until it is done: what was opened before it must wait for that.
  const once = () => {
    closed ??= close().finally(() => cleanups.delete(once));
    return closed;
  };
  cleanups.add(once);
  return once;
}

/** A folder for data that does not outlive the bench. */
export function newFolder(name: string): { dir: string; remove: Closing } {
  const parent = join(import.meta.dirname, '..', '.data');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, `${name}-`));
  return {
    dir,
    remove: closing(async () =>
      rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
    ),
  };
}

/** What was opened last is closed first. */
async function closeAll(): Promise<void> {
  await stopAll();
  for (const close of [...cleanups].reverse()) await close();
}

/** Ctrl-C, or an error that nobody caught, such as the loss of whoever reads what is printed. */
export function closeAllWhenEnded(): void {
  let isEnding = false;
  // A signal may come twice, and while we close things break that nobody needs any more: only the first one counts.
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
