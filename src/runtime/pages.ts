import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const script = join(import.meta.dirname, '..', '..', 'web', 'build.ts');

/**
 * Makes the pages of the console if they are missing or older than their sources; without the packages that takes, or
 * without sources, it leaves what is there. In a process of its own: what serves loads nothing of what builds.
 */
export function buildPages(say: (line: string) => void): Promise<void> {
  if (!existsSync(script)) return Promise.resolve();
  return new Promise(resolve => {
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface(child.stdout).on('line', say);
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
}
