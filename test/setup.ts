import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../src/base/clock.ts';
import { openEmbedded } from '../src/db/embedded/server.ts';
import { isRunning, serverPid } from './helpers/embedded-postgres.ts';
import { templateFolder } from './helpers/template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: { host: string; port: number; user: string };
    template: string;
    usedDataDir: string;
  }
}

/** Hundreds of databases are about to be removed, so the server need not write them down first: it ends at once. */
async function endAtOnce(server: Awaited<ReturnType<typeof openEmbedded>>, dataDir: string): Promise<void> {
  const pid = serverPid(dataDir);
  const closing = server.close();
  process.kill(pid, 'SIGQUIT');
  await closing;
  while (isRunning(pid)) await systemClock.sleep(20);
}

/**
 * One real PostgreSQL for the whole run, with a migrated database that every test file copies; and a stopped copy of it
 * for tests that need a DATA_DIR that was used before.
 */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  const [running, usedDataDir] = [join(dir, 'running'), await templateFolder()];
  execFileSync('cp', ['-a', usedDataDir, running]);
  // It would work on a hundred databases at any moment, and tests that look at plans analyse tables themselves.
  appendFileSync(join(running, 'postgres', 'postgresql.conf'), 'autovacuum = off\n');
  const server = await openEmbedded(running, () => {}, 'create');
  const { host, port, user, database } = server.connection as Record<'host' | 'user' | 'database', string> & {
    port: number;
  };
  project.provide('connection', { host, port, user });
  project.provide('template', database);
  project.provide('usedDataDir', usedDataDir);

  return async () => {
    await endAtOnce(server, running);
    // Hundreds of thousands of files: the run does not wait for their removal, which takes 20 s.
    spawn('rm', ['-rf', dir], { detached: true, stdio: 'ignore' }).unref();
  };
}
