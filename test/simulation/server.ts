import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';

export interface SimulationServer {
  /** A fresh database: one gets slow after many seeds. */
  newDatabase(): Promise<Pool>;
  close(): Promise<void>;
}

/** A PostgreSQL in a temporary folder, removed on close. */
export async function startServer(): Promise<SimulationServer> {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-simulation-'));
  const server = await openEmbedded(dir, () => {}, 'create');
  const admin = new pg.Client({ ...server.connection, database: 'postgres' });
  await admin.connect();
  // No run survives a crash of the server, so nothing has to reach the disk.
  for (const setting of ['fsync', 'full_page_writes']) await admin.query(`ALTER SYSTEM SET ${setting} = off`);
  await admin.query('SELECT pg_reload_conf()');
  let pool: Pool | undefined;
  let count = 0;
  return {
    newDatabase: async () => {
      await pool?.end();
      if (count > 0) await admin.query(`DROP DATABASE simulation_${count} WITH (FORCE)`);
      count += 1;
      const database = `simulation_${count}`;
      await admin.query(`CREATE DATABASE ${database}`);
      const url = { ...server.connection, database };
      const first = openPool(url);
      await migrate(first);
      await tuneForSpeed(first);
      await first.end();
      pool = openPool(url, 1);
      return pool;
    },
    close: async () => {
      await pool?.end();
      await admin.end();
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the database faster for connections opened from now on: no run survives a crash of the server, so commits need
 * not wait for the disk, and statements are planned once.
 */
export async function tuneForSpeed(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>('SELECT current_database() AS name');
  const settings = { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan', jit: 'off' };
  for (const [setting, value] of Object.entries(settings))
    await pool.query(`ALTER DATABASE ${rows[0]!.name} SET ${setting} = ${value}`);
}
