import { expect, test } from 'vitest';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { startPortal } from '../helpers/portal.ts';

const { pool, sql } = await createDatabase();
const smtp = { host: '127.0.0.1', port: 1, isSecure: false, from: 'reports@example.com' };
const { member } = await startPortal({ pool, smtp: { ...smtp, user: undefined, password: undefined } });
const withoutMail = await startPortal({ pool });
const { partnerId } = await createPartnerWithKeys(pool);
const owner = await member(partnerId, 'owner');

const addresses = '/monthly-report/addresses';
const shown = async (of = owner) => (await of.read('/monthly-report')).json;

test('owners switch the report on, add an address and confirm it with the code of the mail', async () => {
  expect(await shown()).toEqual({ is_on: false, addresses: [] });
  await answers(200, owner.act('/monthly-report', { is_on: true }));
  await answers(200, owner.act(addresses, { address: 'A@Example.com', language: 'ru' }));
  const address = 'a@example.com';
  expect(await shown()).toEqual({ is_on: true, addresses: [{ address, is_confirmed: false }] });
  await answers('400 wrong_code', owner.act(`${addresses}/confirm`, { address, code: '1' }));
  const [{ code }] = (await sql`SELECT code FROM report_addresses`) as [{ code: string }];
  await answers(200, owner.act(`${addresses}/confirm`, { address, code: ` ${code} ` }));
  expect((await shown()).addresses).toEqual([{ address, is_confirmed: true }]);
  await answers(200, owner.act(`${addresses}/remove`, { address }));
  await answers(404, owner.act(`${addresses}/confirm`, { address, code }));
  expect(await shown()).toEqual({ is_on: true, addresses: [] });
});

test('what is wrong gets an answer that says so', async () => {
  await answers(400, owner.act(addresses, { address: 'nobody', language: 'ru' }));
  await answers(422, owner.act(addresses, { address: 'a@example.com', language: 'de' }));
  await answers(422, owner.act('/monthly-report', { is_on: 'yes' }));
  const developer = await member(partnerId, 'developer');
  await answers(403, developer.read('/monthly-report'));
  await answers(403, developer.act('/monthly-report', { is_on: false }));
  await answers(403, developer.act(addresses, { address: 'a@example.com', language: 'ru' }));
});

test('without a mail server there are no addresses', async () => {
  const other = await withoutMail.member(partnerId, 'owner');
  expect(await shown(other)).toEqual({ is_on: true, addresses: null });
  await answers(400, other.act(addresses, { address: 'a@example.com', language: 'ru' }));
});
