import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const script = join(import.meta.dirname, '..', '..', 'web', 'build.ts');

/**
 * Builds the pages of the console if they are missing or older than their sources; without the sources or the packages to
 * build them, the existing pages stay. In a child process, so that the service does not load the build tools.
 */
export function buildPages(print: (line: string) => void): Promise<void> {
  if (!existsSync(script)) return Promise.resolve();
  return new Promise(resolve => {
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface(child.stdout).on('line', print);
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
}
