import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { openPool } from '../src/db/pool.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: { host: string; port: number; user: string };
    template: string;
  }
}

/** One real PostgreSQL for the whole run, with a migrated database that every test file copies. */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  const server = await openEmbedded(dir, () => {});
  const { host, port, user } = server.connection as { host: string; port: number; user: string };
  const template = 'template_kopeck';
  const admin = new pg.Client({ ...server.connection, database: 'postgres' });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${template}`);
  await admin.end();
  const pool = openPool({ ...server.connection, database: template });
  await migrate(pool);
  await pool.end();
  project.provide('connection', { host, port, user });
  project.provide('template', template);

  return async () => {
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  };
}
