import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openDedicatedConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';

/** A database whose owner changed the defaults of its sessions. */
async function databaseWith(...settings: string[]) {
  const { pool, url } = await createDatabase();
  const { rows } = await pool.query('SELECT current_database() AS name');
  for (const setting of settings) await pool.query(`ALTER DATABASE ${rows[0].name} SET ${setting}`);
  return { options: pool.options, url };
}

const isolation = "default_transaction_isolation = 'repeatable read'";
const { options, url } = await databaseWith(
  isolation,
  "DateStyle = 'SQL, DMY'",
  "TimeZone = 'Asia/Vladivostok'",
);

const addresses = { 'a socket': options, 'an address': { connectionString: url } };
const address = `${url}&options=${encodeURIComponent('-c default_transaction_isolation=serializable -c work_mem=5MB')}`;
const expected = { isolation: 'read committed', dates: 'ISO, MDY', zone: 'UTC' };
const statement = {
  text: `SELECT current_setting('transaction_isolation') AS isolation, current_setting('DateStyle') AS dates,
                current_setting('TimeZone') AS zone`,
};

function open(connection: Parameters<typeof openPool>[0]) {
  const pool = openPool(connection);
  afterAll(() => pool.end());
  return pool;
}

test.each(Object.entries(addresses))(
  'settings of the database do not change sessions opened by %s',
  async (_name, connection) => {
    const pool = open(connection);
    expect((await pool.query(statement)).rows).toEqual([expected]);
    const session = openDedicatedConnection({ pool, clock: systemClock }, 'test', async () => {});
    await expect.poll(() => session.client()).toBeDefined();
    expect((await session.client()!.query(statement)).rows).toEqual([expected]);
    await session.close();
  },
);

test('options of the address count, but for those that the service needs', async () => {
  const pool = open({ connectionString: address });
  expect((await pool.query(statement)).rows).toEqual([expected]);
  expect((await pool.query('SHOW work_mem')).rows).toEqual([{ work_mem: '5MB' }]);
});

test('payments made at once succeed in a database whose default is repeatable read', async () => {
  const pool = open((await databaseWith(isolation)).options);
  await setRate(pool);
  const { testKey } = await createPartnerWithKeys(pool);
  const servers = [await startApi({ pool }), await startApi({ pool })];
  const pay = async (index: number) =>
    (await partnerAt(servers[index % 2]!.address, testKey).pay({ qr_url: newLink(10_000) })).status;
  expect(new Set(await Promise.all(Array.from({ length: 10 }, (_, index) => pay(index))))).toEqual(
    new Set([200]),
  );
});
