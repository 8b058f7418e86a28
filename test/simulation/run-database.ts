import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { temporaryFolder } from '../helpers/memory-folder.ts';

/**
 * Opens an existing database for runs, with one connection of each kind; a run may replace it by an older copy of itself. `drops` is false
 * where a server with many databases would write all of them to disk for it.
 */
export async function openRunDatabase(
  connection: pg.ClientConfig,
  name: string,
  { drops }: { drops: boolean },
) {
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  const open = (database: string) => openPool({ ...connection, database }, 1);
  let current = { name, pool: open(name) };
  let copies = 0;
  const lost = new Map<string, Pool | undefined>();

  /** Sessions end a moment after their connections; a copy would wait for them in steps of 100 ms. */
  async function endSessions(): Promise<void> {
    await current.pool.end();
    const count = { text: 'SELECT FROM pg_stat_activity WHERE datname = $1', values: [current.name] };
    while ((await admin.query(count)).rowCount !== 0);
  }

  /**
   * Copies it as it is now; nothing else may use it meanwhile. The function that is returned makes the copy the database from then on, and
   * returns the pool of the one that it replaces, which goes on.
   */
  async function copy(): Promise<() => Pool> {
    copies += 1;
    const copyName = `${name}_${copies}`;
    await endSessions();
    await admin.query(`CREATE DATABASE ${copyName} TEMPLATE ${current.name}`);
    await tuneForSpeed(admin, copyName);
    current.pool = open(current.name);
    lost.set(copyName, undefined);
    return () => {
      const { name: lostName, pool } = current;
      lost.delete(copyName);
      lost.set(lostName, pool);
      current = { name: copyName, pool: open(copyName) };
      return pool;
    };
  }

  /** Removes all databases that were replaced, and copies that were not used. */
  async function dropLost(): Promise<void> {
    for (const [lostName, pool] of lost) {
      await pool?.end();
      if (drops) await admin.query(`DROP DATABASE ${lostName} WITH (FORCE)`);
    }
    lost.clear();
  }

  await tuneForSpeed(admin, name);
  return {
    /** Always leads to the current one. */
    pool: leadingTo(() => current.pool),
    /** So far; each changes the timeline of a real server. */
    promotions: 0,
    copy,
    dropLost,
    end: async () => {
      await dropLost();
      await current.pool.end();
      if (drops) await admin.query(`DROP DATABASE ${current.name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

export type RunDatabase = Awaited<ReturnType<typeof openRunDatabase>>;

/** What a run uses of a pool, with the pool of that moment. */
const leadingTo = (current: () => Pool): Pool =>
  ({
    get options() {
      return current().options;
    },
    query: (...args: Parameters<Pool['query']>) => current().query(...args),
    connect: (...args: Parameters<Pool['connect']>) => current().connect(...args),
  }) as unknown as Pool;

/**
 * Makes the database faster for connections opened from now on: no run survives a crash of the server, so commits need
 * not wait for the disk, and statements are planned once.
 */
async function tuneForSpeed(admin: pg.Client, name: string): Promise<void> {
  const settings = { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan', jit: 'off' };
  for (const [setting, value] of Object.entries(settings))
    await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
}

/** A PostgreSQL in a temporary folder, removed on close. */
export async function startServer() {
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
    /** A fresh one: a database gets slow after many seeds. */
    newDatabase: async () => {
      await current?.end();
      count += 1;
      const name = `simulation_${count}`;
      await admin.query(`CREATE DATABASE ${name}`);
      const first = openPool({ ...server.connection, database: name });
      await migrate(first);
      await first.end();
      current = await openRunDatabase(server.connection, name, { drops: true });
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
