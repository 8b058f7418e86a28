import { randomUUID } from 'node:crypto';
import { test as base, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import {
  changeRole,
  type MemberRole,
  memberRoles,
  removeMember,
  setLimits,
  setSuspended,
} from '../../src/partners/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool, sql } = await createDatabase();
const simulator = await startSimulator();
const { member, signIn, audit, address } = await startPortal({ pool, gatewayUrl: simulator.address });
await setRate(pool);

async function newPayer(role: MemberRole = 'payer') {
  const keys = await createPartnerWithKeys(pool);
  const browser = await member(keys.partnerId, role, newPerson('Vera'));
  const pay = (given: object = {}) => browser.act('/pay', confirmed(given));
  return Object.assign(browser, { ...keys, pay, api: partnerAt(address, keys.testKey) });
}
const test = base.extend('payer', () => newPayer());

/** What the page sends after a confirmation. */
const confirmed = (given: object = {}) => ({
  mode: 'test',
  qr_url: newLink(150_000),
  amount_rub: '1500.00',
  confirmation: randomUUID(),
  ...given,
});
const holdsOf = async ({ person }: { person: { userId: bigint } }, mode = 'test') =>
  (
    await sql`SELECT p.id FROM payments p JOIN entries e ON e.payment_id = p.id AND e.to_account = 'held'
               WHERE p.mode = ${mode}::mode AND p.idempotency_key LIKE ${`by hand%:${person.userId} %`}`
  ).length;

test('a person pays by hand, and is on the record of the payment and in the audit log', async ({ payer }) => {
  const body = confirmed();
  const { status, json } = await payer.act('/pay', body);
  expect({ status, json }).toMatchObject({
    status: 200,
    json: { status: 'succeeded', mode: 'test', amount_rub: '1500.00', amount_usdt: '16.216217' },
  });
  const actor = `telegram:${payer.person.userId}`;
  const shown = (await payer.read(`/payments/${json.payment_id}`)).json.payment;
  expect(shown).toMatchObject({ paid_by: actor, paid_by_name: 'Vera' });
  const records =
    await sql`SELECT actor, subject, after FROM audit WHERE action = 'payment.by_hand' AND actor = ${actor}`;
  expect(records).toMatchObject([
    {
      subject: payer.partnerId,
      after: { mode: 'test', amount_rub: '1500.00', idempotency_key: shown.idempotency_key },
    },
  ]);

  // The API shows it as any other payment, and none of its keys can look like it.
  const byKey = (await payer.api.pay({ qr_url: newLink(150_000) })).json;
  const byHand = (await payer.api.get(`/v1/payments/${json.payment_id}`)).json;
  expect(Object.keys(byHand)).toEqual(Object.keys(byKey));
  expect((await payer.read(`/payments/${byKey.id}`)).json.payment).toMatchObject({
    paid_by: null,
    paid_by_name: null,
  });
  const refused = await payer.api.pay({ qr_url: newLink(150_000) }, shown.idempotency_key);
  expect(refused).toMatchObject({ status: 400, json: { error: { code: 'invalid_request' } } });
});

test('one confirmation is one payment: sent twice, at once, and after a lost answer', async ({ payer }) => {
  const body = confirmed();
  const [first, second] = await Promise.all([payer.act('/pay', body), payer.act('/pay', body)]);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.json.payment_id).toBe(first.json.payment_id);
  expect((await payer.act('/pay', body)).json.payment_id).toBe(first.json.payment_id);
  expect(await holdsOf(payer)).toBe(1);

  // The page leaves before the answer, and asks again with the same confirmation.
  const lost = confirmed();
  const leaving = new AbortController();
  const request = fetch(`${address}/portal/api/partners/${payer.partnerId}/pay`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      cookie: payer.cookie!,
      origin: address,
      'x-csrf-token': payer.csrfToken!,
    },
    body: JSON.stringify(lost),
    signal: leaving.signal,
  }).catch(() => undefined);
  leaving.abort();
  await request;
  await answers(200, payer.act('/pay', lost));
  await answers(200, payer.act('/pay', lost));
  expect(await holdsOf(payer)).toBe(2);
  await answers('409 idempotency_conflict', payer.act('/pay', { ...lost, qr_url: newLink(150_000) }));
});

test('two tabs: a code with a payment under way is not paid again', async ({ payer }) => {
  // Test payments with two kopecks are processing for half a minute.
  const tab = { qr_url: newLink(150_002), amount_rub: '1500.02' };
  const given = await Promise.all([payer.pay(tab), payer.pay(tab)]);
  expect(given.map(({ status, json }) => [status, json.error?.code ?? json.status]).sort()).toEqual([
    [200, 'processing'],
    [409, 'duplicate_qr_in_flight'],
  ]);
  expect(await holdsOf(payer)).toBe(1);
});

test('in live mode the payment gateway is paid, once', async ({ payer }) => {
  const { link: url } = await makeQr(simulator, { amount_kopecks: 120_000 });
  const body = confirmed({ mode: 'live', qr_url: url, amount_rub: '1200.00' });
  const paid = await Promise.all([payer.act('/pay', body), payer.act('/pay', body)]);
  expect(paid.map(({ json }) => json.status)).toEqual(['succeeded', 'succeeded']);
  expect(paid[0]!.json).toMatchObject({ payment_id: paid[1]!.json.payment_id, mode: 'live' });
  expect(await holdsOf(payer, 'live')).toBe(1);
  // Another tab, later: the bank knows that the code was paid.
  const again = await payer.act('/pay', { ...body, confirmation: randomUUID() });
  expect(again.json).toMatchObject({ status: 'failed', error_code: 'qr_already_paid' });
  expect(await sql`SELECT FROM payments WHERE qr_url = ${url} AND status = 'succeeded'`).toHaveLength(1);
});

test('a payment above the limit of one, and another amount than was confirmed, are refused', async ({
  payer,
}) => {
  const tooMuch = { qr_url: newLink(1_500_001), amount_rub: '15000.01' };
  await answers('403 by_hand_payment_limit_exceeded', payer.pay(tooMuch));
  await answers('400 amount_mismatch', payer.pay({ amount_rub: '1499.99' }));
  await answers('400 below_minimum', payer.pay({ qr_url: newLink(100), amount_rub: '1.00' }));
  await answers(422, payer.pay({ confirmation: 'again' }));
  expect(await holdsOf(payer)).toBe(0);
});

test('payments at once cannot pass the limit of a day together, also of several people', async ({
  payer,
}) => {
  const other = await member(payer.partnerId, 'owner');
  const ten = () => confirmed({ qr_url: newLink(1_000_000), amount_rub: '10000.00' });
  const given = await Promise.all(
    [payer, other, payer, other, payer, other, payer, other].map(one => one.act('/pay', ten())),
  );
  const codes = given.map(({ status, json }) => json.error?.code ?? status).sort();
  expect(codes).toEqual([...Array(5).fill(200), ...Array(3).fill('by_hand_daily_limit_exceeded')]);
  // Keys of the API have their own limits, and the other mode its own day.
  expect((await payer.api.pay({ qr_url: newLink(1_000_000) })).status).toBe(200);
  const { link: url } = await makeQr(simulator, { amount_kopecks: 120_000 });
  await answers(200, payer.pay({ mode: 'live', qr_url: url, amount_rub: '1200.00' }));
});

test('owners set the limits, on record; zero closes payments by hand', async () => {
  const owner = await newPayer('owner');
  expect((await owner.read('/pay/limits')).json).toEqual({
    max_payment_rub: '15000.00',
    max_day_rub: '50000.00',
  });
  await answers(200, owner.act('/pay/limits', { max_payment_rub: '2000', max_day_rub: '2000' }));
  await answers(200, owner.pay());
  await answers('403 by_hand_daily_limit_exceeded', owner.pay());
  await answers(200, owner.act('/pay/limits', { max_payment_rub: '0', max_day_rub: '0' }));
  await answers('403 by_hand_payment_limit_exceeded', owner.pay());
  for (const bad of ['-1', '1.001', '', '10000000000'])
    await answers(422, owner.act('/pay/limits', { max_payment_rub: bad, max_day_rub: '1' }));
  const records =
    await sql`SELECT before, after FROM audit WHERE action = 'partner.by_hand' AND subject = ${owner.partnerId} ORDER BY id`;
  expect(records).toMatchObject([
    { before: { max_day_rub: '50000.00' }, after: { max_payment_rub: '2000.00', max_day_rub: '2000.00' } },
    { after: { max_day_rub: '0.00' } },
  ]);
});

test('on record and not debited: the same confirmation, sent again, is paid once', async () => {
  const owner = await newPayer('owner');
  const body = confirmed();
  await owner.act('/pay/limits', { max_payment_rub: '0', max_day_rub: '0' });
  await answers('403 by_hand_payment_limit_exceeded', owner.act('/pay', body));
  await owner.act('/pay/limits', { max_payment_rub: '2000', max_day_rub: '2000' });
  for (let nth = 0; nth < 2; nth++) await answers(200, owner.act('/pay', body));
  expect(await holdsOf(owner)).toBe(1);
  const actor = `telegram:${owner.person.userId}`;
  expect(await sql`SELECT FROM audit WHERE action = 'payment.by_hand' AND actor = ${actor}`).toHaveLength(2);
});

test('only payers and owners pay, of a partner that may', async () => {
  for (const role of memberRoles) {
    const one = await newPayer(role);
    await answers(['payer', 'owner'].includes(role) ? 200 : '403 forbidden', one.pay());
  }
  const one = await newPayer();
  await setSuspended(audit, one.partnerId, true);
  await answers('403 partner_suspended', one.pay());
  await setSuspended(audit, one.partnerId, false);
  await sql`UPDATE partners SET live_approved = false WHERE name = (SELECT name FROM partners ORDER BY id DESC LIMIT 1)`;
  await answers('409 not_approved', one.pay({ mode: 'live' }));
  expect(await holdsOf(one)).toBe(0);
});

test.for([
  ['is removed', 404, 'no_partner'],
  ['gets another role', 403, 'forbidden'],
  ['signs out elsewhere', 401, 'signed_out'],
] as const)('a person who %s while the request arrives pays nothing', async ([what, status, code]) => {
  const payer = await newPayer();
  await member(payer.partnerId, 'owner');
  const { userId } = payer.person;
  const url = `${address}/portal/api/partners/${payer.partnerId}/pay`;
  const finish = await sendSlowly(payer, url, confirmed());
  await payer.read('/balance');
  if (what === 'is removed') await removeMember(audit, payer.partnerId, userId);
  else if (what === 'gets another role') await changeRole(audit, payer.partnerId, userId, 'accountant');
  else await (await signIn(payer.person)).post(`/sessions/${payer.sessionId}/end`);
  expect(await finish()).toMatchObject({ status, json: { error: { code } } });
  expect(await holdsOf(payer)).toBe(0);
});

test('people and keys of a partner share one rate of payments', async ({ payer }) => {
  await setLimits(audit, payer.partnerId, { createRps: 1, createBurst: 2 });
  await answers(200, payer.pay());
  // Nothing is added within the test, however long a payment takes.
  await sql`UPDATE rate_buckets SET filled_at = filled_at + interval '1 hour' WHERE partner_id = ${uuidFromId(payer.partnerId)}`;
  await answers(200, payer.pay());
  await answers('429 throttled', payer.pay());
  expect((await payer.api.pay({ qr_url: newLink(150_000) })).status).toBe(429);
});
