import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { afterFile } from './after-file.ts';

export { auditContextOf, createFundedPartner } from './partners.ts';

async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ ...inject('connection'), database: 'postgres' });
  await client.connect();
  await client.query(sql);
  await client.end();
}

export interface TestDatabase {
  pool: Pool;
  url: string;
}

/** A database for one test file, copied from the migrated template. */
export async function createDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${migrated ? inject('template') : 'template1'}`);
  const { host, port, user } = inject('connection');
  const pool = openPool({ host, port, user, database: name });
  afterFile(async () => {
    await pool.end();
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
  });
  return { pool, url: `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}` };
}

export const newPaymentId = () => newId('pay', systemClock);
