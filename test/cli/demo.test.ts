import { expect, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase, deskOf } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const secretKey = 'a secret key for production, long enough';

test('fills a database with payments of all kinds, real ones, and leaves no key behind', async () => {
  const { pool, url } = await createDatabase();
  const env = { DATABASE_URL: url, DATA_DIR: newFolder() };
  const { code, stdout, stderr } = await kopeck(env, 'demo', '--payments', '90', '--json');
  expect([code, stderr]).toEqual([0, expect.stringContaining('90 of 90')]);
  const { outcomes } = JSON.parse(stdout);
  const total = Object.values<number>(outcomes).reduce((sum, count) => sum + count, 0);
  expect(total).toBe(90);
  expect(outcomes).toMatchObject({ succeeded: expect.any(Number), failed: expect.any(Number) });
  expect(outcomes.processing).toBeGreaterThan(0);

  const payments = await pool.query(
    `SELECT count(*)::int AS count FROM payments WHERE mode = 'live' AND NOT rejected`,
  );
  expect(payments.rows[0].count).toBe(90);
  const keys = await pool.query('SELECT count(*)::int AS count FROM api_keys WHERE revoked_at IS NULL');
  expect(keys.rows[0].count).toBe(0);
  const { rows } = await pool.query('SELECT suspended, live_approved FROM partners');
  expect(rows.filter(({ suspended }) => suspended)).toHaveLength(1);
  expect(rows.filter(({ live_approved }) => !live_approved)).toHaveLength(1);
  expect((await verifyLedger(pool)).findings).toEqual([]);

  // Again, with the same shops.
  expect((await kopeck(env, 'demo', '--payments', '5')).code).toBe(0);
  expect((await pool.query('SELECT count(*)::int AS count FROM partners')).rows[0].count).toBe(rows.length);
}, 120_000);

test('is refused where it could be taken for earnest', async () => {
  const { pool, url } = await createDatabase();
  const env = { DATABASE_URL: url, DATA_DIR: newFolder() };
  const refusal = async (more: Record<string, string>, ...args: string[]) => {
    const { code, stderr } = await kopeck({ ...env, ...more }, 'demo', '--json', ...args);
    return `${code} ${JSON.parse(stderr).error.code}`;
  };
  expect(await refusal({ GATEWAY_URL: 'http://bank.example', RATE_SOURCES: 'fixed:92.5' })).toBe(
    '1 real_gateway',
  );
  expect(await refusal({}, '--payments', '10001')).toBe('2 wrong_call');
  await createPartner(deskOf(pool), 'A real shop');
  expect(await refusal({})).toBe('1 real_partners');
  const production = await createDatabase();
  expect(await refusal({ DATABASE_URL: production.url, NODE_ENV: 'production', SECRET_KEY: secretKey })).toBe(
    '1 production',
  );
  expect((await pool.query('SELECT count(*)::int AS count FROM partners')).rows).toEqual([{ count: 1 }]);
}, 60_000);
