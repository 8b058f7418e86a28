import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPool, type Statement, transaction } from '../../src/db/postgres/pool.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { words } from '../helpers/words.ts';

const { pool } = await createDatabase();
const { address, deps } = await startApi({ pool });
await setRate(pool);
const partner = partnerAt(address, (await createPartnerWithKeys(pool)).testKey);

/** Every endpoint that reads payments, as a partner uses it. The answers, in order. */
async function callEverything(): Promise<number[]> {
  const key = randomUUID();
  const body = { qr_url: newLink(10_000), external_id: key };
  const paid = await partner.pay(body, key);
  const waiting = await partner.pay({ qr_url: newLink(10_002) });
  await recoverDuePayments(deps);
  const answers = [paid, waiting, await partner.pay(body, key)];
  const paths =
    words(`/v1/payments?limit=2 /v1/payments?limit=2&status=processing /v1/payments?external_id=${key}
    /v1/payments?created_after=2020-01-01T00:00:00Z /v1/payments/${waiting.json.id} /v1/events?limit=2 /v1/balance`);
  for (const path of paths) answers.push(await partner.get(path));
  return answers.map(({ status }) => status);
}

test('a column added under a running process disturbs no request', async () => {
  // More than once, so that the statements are prepared.
  for (let round = 0; round < 3; round++) expect(new Set(await callEverything())).toEqual(new Set([200]));
  for (const table of ['payments', 'partners', 'events', 'open_payments', 'accounts', 'api_keys'])
    await pool.query(`ALTER TABLE ${table} ADD COLUMN added_later text`);
  for (let round = 0; round < 2; round++) expect(new Set(await callEverything())).toEqual(new Set([200]));
});

test('a prepared statement whose result changes is prepared again, on the pool and in a transaction', async () => {
  const one = openPool(pool.options, 1);
  await one.query('CREATE TABLE things (id int)');
  const read: Statement = { name: 'read things', text: 'SELECT * FROM things' };
  const fieldsOf = ({ fields }: { fields: { name: string }[] }) => fields.map(({ name }) => name);
  for (let round = 0; round < 3; round++) await one.query(read);
  await one.query('ALTER TABLE things ADD COLUMN first_added int');
  expect(fieldsOf(await one.query(read))).toEqual(['id', 'first_added']);
  await transaction(one, tx => tx.query(read));
  await one.query('ALTER TABLE things ADD COLUMN second_added int');
  const both = ['id', 'first_added', 'second_added'];
  expect(fieldsOf(await transaction(one, tx => tx.query(read)))).toEqual(both);
  expect(fieldsOf(await one.query(read))).toEqual(both);
  await one.end();
});
