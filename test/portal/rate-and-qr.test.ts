import { test as base, expect } from 'vitest';
import { blockRecipient, unblockRecipient } from '../../src/controls/index.ts';
import { setSuspended, signUp } from '../../src/partners/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

const { pool } = await createDatabase();
const simulator = await startSimulator();
const { member, signIn, audit, address } = await startPortal({ pool, gatewayUrl: simulator.address });

async function newMember(role: 'viewer' | 'developer' | 'owner' = 'viewer') {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  return Object.assign(await member(partnerId, role), { partnerId, api: partnerAt(address, testKey) });
}
const test = base.extend('viewer', () => newMember());
test('without a rate there is nothing to quote', async ({ viewer }) => {
  expect((await viewer.read('/rate')).json).toEqual({ now: null, history: [] });
  await answers('503 rate_unavailable', viewer.read('/quote?amount_rub=100'));
});

test('the rate with its history, and without the spread', async () => {
  await setRate(pool);
  const viewer = await newMember();
  const { json, text } = await viewer.read('/rate?hours=24');
  expect(json.now).toMatchObject({ rate: '92.5000', max_age_sec: 300, is_stale: false });
  expect(json.history).toEqual([{ at: expect.any(String), rate: '92.5000' }]);
  expect(text).not.toMatch(/mid|spread|source/);
  for (const hours of ['0', '721', 'x']) await answers(422, viewer.read(`/rate?hours=${hours}`));
});

test('an amount costs the same as in the API, with and without a locked rate', async () => {
  const { api, ...viewer } = await newMember();
  const { json } = await viewer.read('/quote?amount_rub=150');
  const now = (await api.post('/v1/quote', { body: { amount_rub: '150' } })).json;
  const locked = (await api.post('/v1/quote', { body: { amount_rub: '150', lock: true } })).json;
  expect(json).toEqual({
    amount_rub: '150.00',
    amount_usdt: now.amount_usdt,
    rate: now.rate,
    is_stale: false,
    is_within_limits: true,
    locked: { amount_usdt: locked.amount_usdt, rate: locked.rate, lifetime_sec: 60 },
  });
  expect((await viewer.read('/quote?amount_rub=5')).json.is_within_limits).toBe(false);
  await answers(400, viewer.read('/quote?amount_rub=0'));
  for (const amount of ['', '-1', '1.234', '1e3', '1,5'])
    await answers(422, viewer.read(`/quote?amount_rub=${amount}`));
});

test('locked quotes are listed until they are used, by mode, and a payment names its own', async () => {
  const { api, ...viewer } = await newMember();
  const lock = async () => (await api.post('/v1/quote', { body: { amount_rub: '150', lock: true } })).json;
  const [used, unused] = [await lock(), await lock()];
  const paid = await api.pay({ qr_url: newLink(15_000), quote_id: used.quote_id });
  const { json } = await viewer.read('/quotes?mode=test');
  expect(json).toMatchObject({
    data: [{ quote_id: unused.quote_id, amount_rub: '150.00', rate: unused.rate }],
    locked_usdt: unused.amount_usdt,
    max_usdt: '5000.000000',
  });
  expect((await viewer.read('/quotes?mode=live')).json).toMatchObject({
    data: [],
    locked_usdt: '0.000000',
  });
  const other = await newMember();
  expect((await other.read('/quotes?mode=test')).json.data).toEqual([]);
  expect((await viewer.read(`/payments/${paid.json.id}`)).json.payment.quote).toMatchObject({
    quote_id: used.quote_id,
  });
});

test('a QR code is resolved, and nothing is paid', async ({ viewer }) => {
  const qr = await makeQr(simulator, { recipient: 'Кофе и книги' });
  const resolve = (mode: string, qr_url: string) => viewer.act('/qr', { mode, qr_url });
  expect((await resolve('live', ` ${qr.link}\n`)).json).toMatchObject({
    recipient: 'Кофе и книги',
    amount_rub: '150.00',
    amount_usdt: '1.621622',
    why_not: null,
  });
  await blockRecipient(audit, 'Кофе и книги');
  expect((await resolve('live', qr.link)).json.why_not).toBe('recipient_blocked');
  await unblockRecipient(audit, 'Кофе и книги');
  const whyNot = async (amount_kopecks: number) =>
    (await resolve('live', (await makeQr(simulator, { amount_kopecks })).link)).json.why_not;
  expect(await whyNot(999)).toBe('below_minimum');
  expect(await whyNot(10_000_001)).toBe('amount_limit_exceeded');
  expect((await resolve('test', newLink(12_300))).json).toMatchObject({ amount_rub: '123.00' });
  const { rowCount } = await pool.query('SELECT FROM payments WHERE partner_id IS NOT NULL AND mode = $1', [
    'live',
  ]);
  expect(rowCount).toBe(0);
});

test('a QR code that cannot be paid says why', async ({ viewer }) => {
  const resolve = (mode: string, qr_url: string) => viewer.act('/qr', { mode, qr_url });
  for (const link of ['https://example.com/x', 'no link', 'javascript:alert(1)'])
    await answers('400 invalid_qr', resolve('live', link));
  const open = await makeQr(simulator, { scenario: 'C2B_OPEN_SUM', amount_kopecks: null });
  await answers('400 unsupported_variable_amount', resolve('live', open.link));
  for (const body of [{}, { mode: 'live' }, { mode: 'live', qr_url: '' }, { mode: 'x', qr_url: 'x' }])
    await answers(422, viewer.act('/qr', body));
  await answers(422, resolve('live', 'x'.repeat(2_049)));

  await setSuspended(audit, viewer.partnerId, true);
  await answers('403 partner_suspended', resolve('live', open.link));
  const person = newPerson();
  const signedUp = await signUp({ ...audit, actor: `telegram:${person.userId}` }, person, 'New shop');
  if (signedUp.outcome !== 'signed_up') throw new Error(signedUp.outcome);
  const owner = await signIn(person);
  const path = `/partners/${signedUp.partner.partnerId}/qr`;
  await answers('409 not_approved', owner.post(path, { mode: 'live', qr_url: open.link }));
});
