import pg from 'pg';
import { expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { explainDatabaseError } from '../../src/db/database.ts';
import { isDatabaseUnavailable, isDatabaseUnreachable } from '../../src/db/postgres/database-errors.ts';
import { openPool, type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();

/** Each new session of the database is read-only, as behind a proxy that leads to a standby. */
const setReadOnly = (isOn: boolean) =>
  pool.query(`ALTER DATABASE ${pool.options.database} SET default_transaction_read_only = ${isOn}`);
const write = 'UPDATE service SET reconciled_at = reconciled_at';
const settings = readSettings({ DATABASE_URL: 'postgresql://db.example/kopeck' });
const serverError = (code: string) => Object.assign(new pg.DatabaseError('', 0, 'error'), { code });

test.each(['08000', '08006', '08P01', '25006', '57P01', '57P03'])('%s is unavailability', code => {
  expect(isDatabaseUnreachable(serverError(code))).toBe(true);
  expect(isDatabaseUnavailable(serverError(code))).toBe(true);
});

test.each(['25001', '23505', '40P01', '57014'])('%s is not an unreachable server', code => {
  expect(isDatabaseUnreachable(serverError(code))).toBe(false);
});

test('a name whose addresses all refuse is an unreachable server', () => {
  const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
  const all = Object.assign(new AggregateError([refused(), refused()]), { code: 'ECONNREFUSED' });
  expect(isDatabaseUnreachable(all)).toBe(true);
  expect(`${explainDatabaseError(all, settings)}`).toContain('does not answer (ECONNREFUSED)');
});

test.each<[string, (through: Pool) => Promise<unknown>]>([
  ['by a statement', through => through.query(write)],
  ['by a transaction', through => transaction(through, tx => tx.query({ text: write }))],
])('%s', async (_case, send) => {
  const through = openPool({ ...pool.options }, 1);
  try {
    await setReadOnly(true);
    await expect(send(through)).rejects.toMatchObject({ code: '25006' });
    await setReadOnly(false);
    await send(through);
  } finally {
    await setReadOnly(false);
    await through.end();
  }
});

test.each([
  [
    'on a read-only server',
    '25006',
    'is read-only (): DATABASE_URL must point to the primary server, and default_transaction_read_only must be off there.',
  ],
  [
    'that gets no connection',
    '53300',
    'has no connection left (): end the program that holds them, or raise max_connections.',
  ],
])('a command %s names the fix in one line', (_what, code, fix) => {
  const explained = `${explainDatabaseError(serverError(code), settings)}`;
  expect(explained).toContain(`The database at db.example:5432/kopeck ${fix}`);
});
