import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { createCitusDatabase } from '../citus/citus.ts';
import { openCitusPool } from '../citus/pool.ts';
import { shardCount } from './shards.ts';

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

/**
 * A database for one test file, copied from the migrated template. It is removed with its server at the end of the run:
 * DROP DATABASE would make the server write everything to disk, and all other tests would wait for that.
 */
export async function createDatabase({ migrated = true } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  if (migrated && process.env.KOPECK_TEST_CITUS) return onCitus(name);
  await administer(`CREATE DATABASE ${name} TEMPLATE ${migrated ? inject('template') : 'template1'}`);
  const { host, port, user } = inject('connection');
  const pool = openPool({ host, port, user, database: name, ...(migrated ? sessionOfTests() : {}) });
  afterAll(() => pool.end());
  return { pool, url: `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}` };
}

/** The template has the shards: see test/setup.ts. */
function sessionOfTests(): { session?: Record<string, string> } {
  if (process.env.KOPECK_TEST_SHARD) return { session: sessionOf(1, 2) };
  return shardCount === 1 ? {} : { session: sessionOfAll(shardCount) };
}

/** With KOPECK_TEST_CITUS=1 everything happens in shard 1, on a worker of Citus. */
async function onCitus(name: string): Promise<TestDatabase> {
  const [coordinator = '', ...workers] = inject('citus');
  const url = await createCitusDatabase(coordinator, workers, name);
  const pool = await openCitusPool(url);
  afterAll(() => pool.end());
  return { pool, url };
}

export const newPaymentId = () => newId('pay', systemClock);
