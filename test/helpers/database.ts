import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { afterFile } from './after-file.ts';
import { manualClock } from './clock.ts';
import { auditContextOf } from './partners.ts';

// Who needs a database mostly puts a partner into it.
export * from './partners.ts';

export async function administer(sql: string): Promise<void> {
  const client = new pg.Client({ ...inject('connection'), database: 'postgres' });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Runs a statement with what is put into it as its values, and returns its rows. */
export const rowsOf =
  (pool: Pick<Pool, 'query'>) =>
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any column, and fails if it is missing
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<any[]> =>
    (
      await pool.query(
        texts.reduce((text, next, nth) => `${text}$${nth}${next}`),
        values,
      )
    ).rows;

export interface TestDatabase {
  pool: Pool;
  sql: ReturnType<typeof rowsOf>;
  url: string;
  audit: ReturnType<typeof auditContextOf>;
}

/** Copying the files takes half the work of writing each page to the log, which is the default. */
export async function copyTemplate(template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  return name;
}

/** Limits that no statement of a test reaches on a busy machine. Tests of what happens at a limit set their own. */
export const patient = { statement_timeout: 60_000, lock_timeout: 45_000, query_timeout: 90_000 };

function open(name: string, limits = patient): TestDatabase {
  const { host, port, user } = inject('connection');
  const pool = openPool({ host, port, user, database: name, ...limits });
  afterFile(() => pool.end());
  const url = `postgresql://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
  return { pool, sql: rowsOf(pool), url, audit: auditContextOf(pool) };
}

/** A database for one test file, copied from the migrated template. */
export async function createDatabase({ migrated = true, limits = {} } = {}): Promise<TestDatabase> {
  const name = await copyTemplate(migrated ? inject('template') : 'template1');
  afterFile(() => administer(`DROP DATABASE ${name} WITH (FORCE)`));
  return open(name, { ...patient, ...limits });
}

let shared: Promise<string> | undefined;

/**
 * A database that all files of this worker use which ask for it, each with a pool of its own. For files that touch only partners which they
 * created, and look at nothing that is the service's as a whole: settings, rates, alarms, logs, or how many there are.
 */
export async function sharedDatabase(): Promise<TestDatabase> {
  shared ??= copyTemplate(inject('template'));
  return open(await shared);
}

/** With a clock that only the test moves, and the context of changes that it makes at that time. */
export async function createTimedDatabase(startIso?: string) {
  const database = await createDatabase();
  const clock = manualClock(startIso);
  return { ...database, clock, audit: auditContextOf(database.pool, clock) };
}

export const newPaymentId = () => newId('pay', systemClock);
