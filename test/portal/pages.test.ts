import { test as base, expect } from 'vitest';
import { dayIn } from '../../src/base/calendar.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { recordChange } from '../../src/db/audit/index.ts';
import { approveLive, listKeys, signUp } from '../../src/partners/index.ts';
import { createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';

const { pool, sql, clock } = await createTimedDatabase(new Date().toISOString());
const { member, signIn, address, audit } = await startPortal({ pool, clock });
await setRate(pool, clock);

/** A partner with three test payments: two succeeded, one failed. */
async function createShop() {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const api = partnerAt(address, testKey);
  const paid = await api.pay({ qr_url: newLink(10_000), external_id: 'order 1', metadata: { a: 1.1 } });
  await api.pay({ qr_url: newLink(25_050) });
  await api.pay({ qr_url: newLink(10_001) });
  return { partnerId, testKey, api, paymentId: paid.json.id as string };
}
const test = base.extend('shop', () => createShop());

test('the overview counts payments by day, and live and test apart', async ({ shop: { partnerId } }) => {
  const viewer = await member(partnerId, 'viewer');
  const { json } = await viewer.read('/overview?mode=test&days=7');
  expect(json).toMatchObject({
    created: 3,
    succeeded: 2,
    failed: 1,
    success_share: 2 / 3,
    turnover_rub: '350.50',
    is_complete: true,
    webhook_state: 'none',
    is_maintenance: false,
    rate: { is_stale: false },
  });
  expect(json.days).toHaveLength(7);
  const { available_usdt } = json.balance;
  expect(json.days[6]).toMatchObject({
    day: dayIn('Europe/Moscow', clock.nowMs()),
    created: 3,
    available_usdt,
  });
  expect(json.days[0]).toMatchObject({ created: 0, available_usdt: '0.000000' });
  const live = (await viewer.read('/overview?mode=live&days=7')).json;
  expect(live).toMatchObject({ created: 0, success_share: null });
  for (const query of ['', '?mode=other', '?mode=live&days=0', '?mode=live&days=91'])
    await answers(422, viewer.read(`/overview${query}`));
});

test('the overview has the first steps until all are done', async () => {
  const { partnerId } = await createShop();
  const viewer = await member(partnerId, 'viewer');
  const steps = async () => (await viewer.read('/overview?mode=test')).json.first_steps;
  expect(await steps()).toEqual([
    { step: 'test_key', state: 'done' },
    { step: 'payment', state: 'done' },
    { step: 'webhook_check', state: 'open' },
    { step: 'live_approval', state: 'done' },
    { step: 'top_up', state: 'done' },
  ]);
  await setWebhook(audit, createVault(keyring), partnerId, 'https://shop.example/hook');
  const passed = { action: 'webhook.check', subject: partnerId, after: { passed: true } } as const;
  await recordChange(pool, audit, passed);
  expect(await steps()).toEqual([]);
});

test('payments are found by what identifies them, and a name of a partner is not a filter', async () => {
  const { partnerId, paymentId } = await createShop();
  const viewer = await member(partnerId, 'viewer');
  const found = async (query: string) =>
    (await viewer.read(`/payments?mode=test&${query}`)).json.data.map(
      (row: { amount_rub: string }) => row.amount_rub,
    );
  expect(await found('')).toEqual(['100.01', '250.50', '100.00']);
  expect(await found('q=order%201')).toEqual(['100.00']);
  expect(await found(`q=${paymentId}`)).toEqual(['100.00']);
  expect(await found('q=250.50')).toEqual(['250.50']);
  expect(await found('status=failed')).toEqual(['100.01']);
  expect(await found('q=Shop')).toEqual(await found('q=shop'));
  expect(await found(`q=prt_01h455vb4pex5vsknk084sn02q`)).toEqual([]);
  expect(await found(`created_before=2020-01-01T00:00:00Z`)).toEqual([]);
  await answers(422, viewer.read('/payments?mode=test&created_after=x'));
  await answers(422, viewer.read('/payments?mode=test&after=pay_x'));
  expect((await viewer.read('/payments/totals?mode=test')).json.totals).toHaveLength(2);
});

test('an export has the same payments', async ({ shop: { partnerId } }) => {
  const viewer = await member(partnerId, 'viewer');
  const { text, headers } = await viewer.read('/payments/export?mode=test&status=succeeded');
  expect(headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
  expect(text.trimEnd().split('\n')).toHaveLength(3);
  expect(text).toContain('order 1');
});

test('the timeline of a payment has nothing that is for operators', async () => {
  const { partnerId, paymentId } = await createShop();
  await sql`INSERT INTO gateway_calls (payment_id, at, call, duration_ms, status, outcome, request, response)
            VALUES (${uuidFromId(paymentId as Id<'pay'>)}, now(), 'pay', 5, 200, 'accepted', 'secret request', 'secret response')`;
  const viewer = await member(partnerId, 'viewer');
  const { json, text } = await viewer.read(`/payments/${paymentId}`);
  expect(json.payment).toMatchObject({ external_id: 'order 1', metadata: '{"a":1.1}', refunded: null });
  expect(json.timeline.map(({ what }: { what: string }) => what)).toEqual(
    expect.arrayContaining(['created', 'hold', 'settle', 'succeeded', 'payment.succeeded']),
  );
  expect(text).not.toMatch(/secret|gateway|accepted|rate_id|order_id|support/);
});

test('a key is shown once; live keys are for owners of approved partners', async () => {
  const person = newPerson();
  const signedUp = await signUp({ ...audit, actor: `telegram:${person.userId}` }, person, 'New shop');
  if (signedUp.outcome !== 'signed_up') throw new Error(signedUp.outcome);
  const { partnerId } = signedUp.partner;
  const owner = await signIn(person);
  const developer = await member(partnerId, 'developer');
  const wanted = { scopes: ['read'], allowed_addresses: ['192.0.2.0/24'], label: 'Reports' };
  const create = (mode: string, by = owner, more = {}) =>
    by.post(`/partners/${partnerId}/keys`, { mode, ...wanted, ...more });

  await answers('409 not_approved', create('live'));
  await approveLive(audit, partnerId);
  expect(await create('live', developer)).toMatchObject({ status: 403 });
  const live = await create('live');
  expect(live.json.key).toMatch(/^svc_live_/);
  // The newest comes first.
  await clock.advance(1);
  const limited = { max_payment_rub: '500.5', expires_in_days: 30, scopes: ['pay'] };
  const test = await create('test', developer, limited);
  expect(test.json.key).toMatch(/^svc_test_/);

  const { json, text } = await developer.read('/keys');
  expect(json.data).toMatchObject([
    { key_id: test.json.key_id, max_payment_rub: '500.50', label: 'Reports', scopes: ['pay'] },
    { key_id: live.json.key_id, allowed_addresses: ['192.0.2.0/24'], scopes: ['read'] },
  ]);
  expect(text).not.toContain(live.json.key);
  for (const change of [
    { allowed_addresses: ['no address'] },
    { max_day_rub: '1.234' },
    { scopes: [] },
    { label: 'x'.repeat(200) },
    { expires_in_days: 0 },
  ])
    expect((await create('test', developer, change)).status).toBeOneOf([400, 422]);
});

test('a key is rolled, limited to addresses and revoked', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const developer = await member(partnerId, 'developer');
  const keys = await listKeys(pool, partnerId);
  const live = keys.find(({ mode }) => mode === 'live')!;
  const changes = { roll: { overlap_hours: 1 }, revoke: {}, addresses: { allowed_addresses: [] } };
  for (const [action, body] of Object.entries(changes))
    await answers(403, developer.act(`/keys/${live.keyId}/${action}`, body));
  const rolled = await owner.act(`/keys/${live.keyId}/roll`, { overlap_hours: 24 });
  expect(rolled.json.key).toMatch(/^svc_live_/);
  await answers('409 already_rolled', owner.act(`/keys/${live.keyId}/roll`, { overlap_hours: 24 }));
  await answers(422, owner.act(`/keys/${live.keyId}/roll`, { overlap_hours: 169 }));
  const next = rolled.json.key_id;
  await answers(200, owner.act(`/keys/${next}/addresses`, { allowed_addresses: ['192.0.2.1'] }));
  await answers(403, partnerAt(address, rolled.json.key).get('/v1/ping'));
  await answers(200, owner.act(`/keys/${next}/revoke`));
  await answers(409, owner.act(`/keys/${next}/revoke`));
});

test('the webhook: addresses, secret, events, check, log, sending again', async () => {
  const receiver = await startReceiver();
  const { partnerId, api } = await createShop();
  const developer = await member(partnerId, 'developer');
  expect((await developer.read('/webhook')).json).toMatchObject({ endpoints: [], max_endpoints: 5 });
  await answers('400 bad_address', developer.act('/webhook', { url: 'ftp://x' }));
  await answers(200, developer.act('/webhook', { url: receiver.url }));
  const second = { url: `${receiver.url}second`, mode: 'test', events: ['payment.failed'] };
  await answers(400, developer.act('/webhook', { url: second.url }));
  await answers(200, developer.act('/webhook', second));
  const { endpoints } = (await developer.read('/webhook')).json;
  expect(endpoints).toMatchObject([
    { is_first: true, mode: null, url: receiver.url, state: 'active' },
    { is_first: false, mode: 'test', events: ['payment.failed'], has_ed25519: false },
  ]);
  const [first, further] = endpoints.map((one: { endpoint_id: string }) => `/webhook/${one.endpoint_id}`);
  await answers(400, developer.act(`${first}/events`, { events: ['payment.failed'] }));
  await answers(200, developer.act(`${further}/events`, { events: ['payment.refunded'] }));
  await answers(200, developer.act(`${further}/address`, { url: `${receiver.url}third` }));
  await answers(200, developer.act(`${further}/ed25519`, { is_on: true }));
  expect((await developer.read('/webhook')).json.endpoints[1]).toMatchObject({
    url: `${receiver.url}third`,
    events: ['payment.refunded'],
    has_ed25519: true,
  });
  await answers(200, developer.act(`${further}/remove`));
  await answers(404, developer.act(`${further}/remove`));

  const [secret] = (await developer.act(`${first}/secret`)).json.secrets;
  const rotated = (await developer.act(`${first}/rotate`)).json.secrets;
  expect(rotated).toEqual([expect.stringMatching(/^whsec_/), secret]);
  await answers(409, developer.act(`${first}/rotate`));
  expect((await developer.act(`${first}/check`)).json).toMatchObject({ can_receive: expect.any(Boolean) });

  await api.pay({ qr_url: newLink(30_000) });
  const { data } = (await developer.read('/deliveries?mode=test')).json;
  expect(data[0]).toMatchObject({ event: 'payment.succeeded', endpoint_id: endpoints[0].endpoint_id });
  const detail = (await developer.read(`/deliveries/${data[0].event_id}`)).json;
  const body = JSON.parse(detail.request.body);
  expect(body).toMatchObject({ id: data[0].event_id, data: { amount_rub: '300.00' } });
  await answers(200, developer.act(`/deliveries/${data[0].event_id}/resend`));
});

test('a statement has the same bytes as from the API', async ({ shop: { partnerId, testKey } }) => {
  const viewer = await member(partnerId, 'viewer');
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  const { text } = await viewer.read(`/statement?mode=test&day=${day}&format=csv`);
  const headers = { authorization: `Bearer ${testKey}` };
  const response = await fetch(`${address}/v1/statement?day=${day}&format=csv`, { headers });
  expect(text).toBe(await response.text());
  await answers(400, viewer.read('/statement?mode=test&day=2999-01-01&format=csv'));
});

test('balances, limits, the alert and the test refill', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  await answers(200, owner.act('/balance/alert', { alert_usdt: '25.5' }));
  await answers(400, owner.act('/balance/alert', { alert_usdt: '0' }));
  await answers(200, owner.act('/balance/refill'));
  await answers(409, owner.act('/balance/refill'));
  expect((await owner.read('/balance')).json).toMatchObject({
    alert_usdt: '25.500000',
    test: { available_usdt: '20000.000000' },
    limits: { max_rub: '100000.00' },
    addresses: [],
    credits: expect.arrayContaining([expect.objectContaining({ mode: 'test' })]),
  });
  await owner.act('/balance/alert', { alert_usdt: null });
  expect((await owner.read('/balance')).json.alert_usdt).toBeNull();
  expect((await owner.read('/deposits')).json).toEqual({ data: [], next_cursor: null });
});
