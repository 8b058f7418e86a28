import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool } from '../../src/db/pool.ts';
import { temporaryFolder } from '../helpers/memory-folder.ts';
import { openRunDatabase, type RunDatabase } from './run-database.ts';

export interface SimulationServer {
  /** A fresh database: one gets slow after many seeds. */
  newDatabase(): Promise<RunDatabase>;
  close(): Promise<void>;
}

/** A PostgreSQL in a temporary folder, removed on close. */
export async function startServer(): Promise<SimulationServer> {
  const dir = mkdtempSync(join(temporaryFolder(), 'kopeck-simulation-'));
  const server = await openEmbedded(dir, () => {}, 'create');
  const admin = new pg.Client({ ...server.connection, database: 'postgres' });
  await admin.connect();
  // No run survives a crash of the server, so nothing has to reach the disk.
  for (const setting of ['fsync', 'full_page_writes']) await admin.query(`ALTER SYSTEM SET ${setting} = off`);
  await admin.query('SELECT pg_reload_conf()');
  let current: RunDatabase | undefined;
  let count = 0;
  return {
    newDatabase: async () => {
      await current?.end();
      count += 1;
      const name = `simulation_${count}`;
      await admin.query(`CREATE DATABASE ${name}`);
      const first = openPool({ ...server.connection, database: name });
      await migrate(first);
      await first.end();
      current = await openRunDatabase({ connection: server.connection, name, drops: true });
      return current;
    },
    close: async () => {
      await current?.end();
      await admin.end();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
