import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readSettings } from '../src/base/settings.ts';
import { openDatabase } from '../src/db/database.ts';
import { openEmbedded } from '../src/db/embedded/server.ts';
import { launchCitus } from './citus/citus.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: { host: string; port: number; user: string };
    template: string;
    usedDataDir: string;
    /** Addresses of the nodes, the coordinator first, with KOPECK_TEST_CITUS=1. */
    citus: string[];
  }
}

/**
 * One real PostgreSQL for the whole run, with a migrated database that every test file copies; and a stopped copy of it
 * for tests that need a DATA_DIR that was used before.
 */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  const [running, usedDataDir] = [join(dir, 'running'), join(dir, 'used')];
  const made = await openDatabase(readSettings({ DATA_DIR: running }), () => {}, 'create');
  // Every test copies it, and a copy of a database that was started is not open.
  await made.pool.query('DELETE FROM incarnations');
  await made.close();
  execFileSync('cp', ['-a', running, usedDataDir]);
  const server = await openEmbedded(running, () => {}, 'create');
  const { host, port, user, database } = server.connection as Record<'host' | 'user' | 'database', string> & {
    port: number;
  };
  project.provide('connection', { host, port, user });
  project.provide('template', database);
  project.provide('usedDataDir', usedDataDir);

  const cleanUps: (() => Promise<void>)[] = [];
  const citus = project.config.env.KOPECK_TEST_CITUS
    ? await launchCitus(mkdtempSync(join(dir, 'citus-')), {
        workers: 2,
        settings: ['fsync=off'],
        atEnd: cleanUp => cleanUps.push(cleanUp),
      })
    : undefined;
  project.provide('citus', citus ? [citus.coordinator, ...citus.workers].map(({ url }) => url) : []);

  return async () => {
    for (const cleanUp of cleanUps) await cleanUp();
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  };
}
