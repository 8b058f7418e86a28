import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readSettings } from '../src/base/settings.ts';
import { openDatabase } from '../src/db/database.ts';
import { openEmbedded } from '../src/db/embedded/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: { host: string; port: number; user: string };
    template: string;
    usedFolder: string;
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated database that every test file copies; and the same once more,
 * at rest, for those who need a folder in which the service was used before.
 */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  const [running, usedFolder] = [join(dir, 'running'), join(dir, 'used')];
  await (await openDatabase(readSettings({ DATA_DIR: running }), () => {})).close();
  execFileSync('cp', ['-a', running, usedFolder]);
  const server = await openEmbedded(running, () => {});
  const { host, port, user, database } = server.connection as Record<'host' | 'user' | 'database', string> & {
    port: number;
  };
  project.provide('connection', { host, port, user });
  project.provide('template', database);
  project.provide('usedFolder', usedFolder);

  return async () => {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  };
}
