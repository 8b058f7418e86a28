import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../src/db/postgres/pool.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const gone = () => Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
const telegram = {
  path: '/telegram',
  secret: 'a secret of the webhook',
  handle: () => Promise.reject(gone()),
};
const { address } = await startApi({ pool, telegramReceiver: telegram });
const operators = await startConsole({ pool, pagesFolder: '/nowhere' });
const { testKey } = await createPartnerWithKeys(pool);

/** Outside of the pools, and from before the change: its sessions stay as they are. */
const admin = openPool({ ...pool.options }, 1);
const setReadOnly = async (isOn: boolean) => {
  await admin.query(`ALTER DATABASE ${pool.options.database} SET default_transaction_read_only = ${isOn}`);
  await admin.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
};
afterAll(() => admin.end());

const retryAfterOf = async (answer: Promise<Response | { status: number; headers: Headers }>) => {
  const { status, headers } = await answer;
  return { status, retryAfter: Number(headers.get('retry-after')) };
};
const temporary = { status: 503, retryAfter: 2 };

describe('a 503 says when to try again', () => {
  test("at Telegram's address", async () => {
    const headers = { 'x-telegram-bot-api-secret-token': telegram.secret };
    const update = fetch(`${address}/telegram`, { method: 'POST', headers, body: '{}' });
    expect(await retryAfterOf(update)).toEqual(temporary);
  });

  test('at pages that are not built', async () => {
    expect(await retryAfterOf(fetch(`${operators.address}/console/`))).toEqual(temporary);
  });

  test('without a rate', async () => {
    expect(await retryAfterOf(partnerAt(address, testKey).get('/v1/rate'))).toEqual(temporary);
  });
});

describe('on a server that became read-only', () => {
  beforeAll(async () => {
    await setRate(pool);
    await setReadOnly(true);
  });
  afterAll(() => setReadOnly(false));

  test.each([
    ['a payment', () => partnerAt(address, testKey).pay({ qr_url: newLink(10_000) })],
    ['a read of a partner', () => partnerAt(address, testKey).get('/v1/balance')],
    [
      'a sign-in to the console',
      () =>
        fetch(`${operators.address}/console/api/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: operators.address },
          body: JSON.stringify({ name: 'anna', password: 'wrong password', code: '123456' }),
        }),
    ],
  ])('%s gets 503 with Retry-After', async (_case, send) => {
    expect(await retryAfterOf(send())).toEqual(temporary);
  });
});

test('on a server that is writable again payments are accepted', async () => {
  const pay = async () => (await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) })).status;
  await expect.poll(pay).toBe(200);
});
