import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Settings } from '../base/settings.ts';

const script = join(import.meta.dirname, '..', '..', 'web', 'build.ts');

/** With other roles only, it needs no port. */
export const servesRequests = ({ roles }: Pick<Settings, 'roles'>) =>
  roles.includes('api') || roles.includes('console');

/** Partners' people sign in with the bot: without one there is no portal. */
export const servesPortal = ({ roles, telegramToken }: Pick<Settings, 'roles' | 'telegramToken'>) =>
  roles.includes('api') && telegramToken !== undefined;

export const servesPages = (settings: Pick<Settings, 'roles' | 'telegramToken'>) =>
  settings.roles.includes('console') || servesPortal(settings);

/**
 * Builds the pages of the console and the portal if they are missing or older than their sources; without the sources or the packages to
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
