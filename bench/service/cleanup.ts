import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from '../process.ts';

type Closing = () => Promise<void>;

const closings = new Set<Closing>();

/** Makes sure that something is closed once, whoever comes first: its user, the end of the bench, or Ctrl-C. */
export function closing(close: Closing): Closing {
  let closed: Promise<void> | undefined;
  const once = () => {
    closings.delete(once);
    closed ??= close();
    return closed;
  };
  closings.add(once);
  return once;
}

/** A folder for data that does not outlive the bench. */
export function newFolder(name: string): { dir: string; remove: Closing } {
  const parent = join(import.meta.dirname, '..', '.data');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, `${name}-`));
  return { dir, remove: closing(async () => rmSync(dir, { recursive: true, force: true })) };
}

/** What was opened last is closed first. */
async function closeAll(): Promise<void> {
  await stopAll();
  for (const close of [...closings].reverse()) await close();
}

/** Ctrl-C, or an error that nobody caught, such as the loss of whoever reads what is printed. */
export function closeAllWhenEnded(): void {
  const end = (exitCode: number) => void closeAll().finally(() => process.exit(exitCode));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end(130));
  process.once('uncaughtException', error => {
    // Whatever else breaks on the way out is of no interest.
    process.on('uncaughtException', () => {});
    console.error(error);
    end(1);
  });
}
