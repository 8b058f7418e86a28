import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { openCitusPool } from '../citus/pool.ts';
import { closeCopy, copyTemplate } from '../citus/template.ts';
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

/** With KOPECK_TEST_CITUS=1 all shards but the first are on workers of Citus. With two, everything happens in the second. */
async function onCitus(name: string): Promise<TestDatabase> {
  const nodes = inject('citus');
  const url = await copyTemplate(nodes, name);
  const distributed = Array.from({ length: shardCount - 1 }, (_, nth) => nth + 1);
  const pool =
    shardCount === 1
      ? await openCitusPool(url)
      : // Tests read the name. The password is only in the address: options that are copied lose it.
        openPool({ connectionString: url, database: name, session: sessionOfAll(shardCount), distributed });
  afterAll(async () => {
    await pool.end();
    await closeCopy(nodes, name);
  });
  return { pool, url };
}

export const newPaymentId = () => newId('pay', systemClock);
