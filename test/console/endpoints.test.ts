import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import {
  addEndpoint,
  contractEvents,
  createVault,
  findWebhook,
  firstEndpointOf,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers, readPages, startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase, createPartnerWithKeys } from '../helpers/database.ts';
import { startReceiver, withStatus } from '../helpers/webhook-receiver.ts';

const { pool, sql } = await createDatabase();
const { address, signIn, deps } = await startConsole({ pool });
const [vault, audit] = [createVault(keyring), auditContextOf(pool)];
const receiver = await startReceiver();
const support = await signIn('support');

// A partner with two endpoints in test mode and one in live mode, and three events.
await setRate(pool);
const { partnerId, testKey } = await createPartnerWithKeys(pool);
await setWebhook(audit, vault, partnerId, 'https://shop.example/first');
let further = '';
for (const mode of ['test', 'live'] as const) {
  const wanted = { mode, url: receiver.url, events: contractEvents };
  const added = await addEndpoint(audit, vault, partnerId, wanted);
  if (mode === 'test') further = added.outcome === 'added' ? added.endpointId : '';
}
for (const kopecks of [10_000, 10_001, 10_000])
  await partnerAt(address, testKey).pay({ qr_url: newLink(kopecks) });

interface Row {
  event_id: string;
  endpoint_id: string;
}
const keysOf = (rows: Row[]) => rows.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`);

test('a partner has its endpoints, each of which is checked on its own', async () => {
  const { endpoints } = (await support.get(`/partners/${partnerId}`)).json;
  expect(endpoints).toMatchObject([
    { endpoint_id: firstEndpointOf(partnerId), mode: null, waiting: 3 },
    { mode: 'live', waiting: 0 },
    { endpoint_id: further, mode: 'test', url: receiver.url, waiting: 3, events: contractEvents },
  ]);
  const check = (endpoint: string) =>
    support.post(`/partners/${partnerId}/webhook/check?endpoint_id=${endpoint}`);
  expect((await check(further)).json).toMatchObject({ can_receive: true });
  expect(receiver.received).toHaveLength(5);
  await answers(404, check('whe_nonsense'));
});

test('an alarm about an endpoint leads to the page of its partner', async () => {
  await deps.alarms.raise({ kind: 'webhook_suspended', subject: further, detail: 'x' });
  await deps.alarms.raise({ kind: 'webhook_suspended', subject: newId('whe', systemClock), detail: 'x' });
  const found = (await support.get('/alarms?kind=webhook_suspended')).json.data;
  const pages = found.map((alarm: { page: string | null }) => alarm.page);
  expect(pages).toEqual([null, `/partners/${partnerId}/webhook`]);
  expect((await support.get('/overview')).json.alarms).toEqual(found);
});

test('each event and endpoint is a delivery; pages lose none and repeat none', async () => {
  const { data } = (await support.get(`/deliveries?partner_id=${partnerId}`)).json;
  expect(new Set(keysOf(data)).size).toBe(6);
  expect(keysOf(await readPages(support, '/deliveries?limit=1'))).toEqual(keysOf(data));
  expect((await support.get('/deliveries?state=pending')).json.data).toHaveLength(6);
});

test('one delivery is shown and sent again; without an endpoint the console asks which one', async () => {
  const [{ event_id }] = (await support.get('/deliveries')).json.data;
  const detail = (await support.get(`/deliveries/${partnerId}/${event_id}?endpoint_id=${further}`)).json;
  const first = (await support.get(`/deliveries/${partnerId}/${event_id}`)).json;
  expect(detail.delivery).toMatchObject({ endpoint_id: further, endpoint: { url: receiver.url } });
  expect(detail.request.body).toBe(first.request.body);
  expect(detail.request.headers['x-service-delivery']).not.toBe(first.request.headers['x-service-delivery']);
  const resend = (query: string) =>
    support.post(`/events/${event_id}/resend?partner_id=${partnerId}${query}`);
  await answers(409, resend(''));
  expect((await resend(`&endpoint_id=${further}`)).json).toEqual({ outcome: 'done' });
});

describe('support changes endpoints', () => {
  const reason = 'The partner has asked for it';
  const at = (path = '') => `/partners/${partnerId}/endpoints${path}`;
  const listed = async () => (await support.get(`/partners/${partnerId}`)).json.endpoints;
  const added = { url: 'https://127.0.0.1:1/added', mode: 'test', events: ['payment.failed'], reason };

  test('one is added, changed, signed with Ed25519 and removed, with reasons in the audit log', async () => {
    await answers(200, support.post(at(), added));
    const { endpoint_id } = (await listed()).find(({ url }: { url: string }) => url === added.url);
    const change = (what: string, body: object) => support.post(at(`/${endpoint_id}/${what}`), body);
    await answers(200, change('address', { url: 'https://127.0.0.1:1/moved', reason }));
    await answers(200, change('events', { events: ['payment.refunded'], reason }));
    await answers(200, change('ed25519', { is_on: true, reason }));
    expect((await listed()).at(-1)).toMatchObject({
      ...{ endpoint_id, is_first: false, mode: 'test', url: 'https://127.0.0.1:1/moved' },
      ...{ events: ['payment.refunded'], has_ed25519: true },
    });
    await answers(200, change('remove', { reason }));
    await answers(404, change('remove', { reason }));
    const rows = await sql`SELECT action, actor, after->>'reason' AS reason FROM audit
                            WHERE subject = ${partnerId} AND after ? 'reason' ORDER BY id`;
    const by = { actor: `operator:${support.name}`, reason };
    const words = ['add', 'set', 'events', 'ed25519', 'remove'];
    expect(rows).toEqual(words.map(word => ({ action: `webhook.${word}`, ...by })));
  });

  test('a mode has five at most, and the first keeps the events of the contract', async () => {
    for (const status of [200, 200, 200, 409]) await answers(status, support.post(at(), added));
    const first = firstEndpointOf(partnerId);
    await answers(
      '400 contract_events',
      support.post(at(`/${first}/events`), { events: ['payment.refunded'], reason }),
    );
  });

  test('an endpoint of another partner, a private address and a missing reason are refused', async () => {
    const other = (await createPartnerWithKeys(pool)).partnerId;
    const foreign = `/partners/${other}/endpoints/${further}/remove`;
    await answers(404, support.post(foreign, { reason }));
    for (const path of ['/partners/prt_x/endpoints', `/partners/${newId('prt', systemClock)}/endpoints`])
      await answers(404, support.post(path, added));
    await answers('400 bad_address', support.post(at(), { ...added, url: 'ftp://x' }));
    for (const change of [{ reason: ' ' }, { reason: undefined }, { events: ['x'] }, { events: [] }])
      await answers(422, support.post(at(), { ...added, ...change }));
    await answers(422, support.post(at(`/${further}/remove`), { reason: '' }));
    expect((await listed()).some((one: Row) => one.endpoint_id === further)).toBe(true);
  });
});

test('an operator who is disabled while a receiver is checked does not end its suspension', async () => {
  const [admin, second] = [await signIn('admin'), await signIn('admin')];
  const { operator } = (await second.get('/session')).json;
  await sql`UPDATE endpoints SET suspended_at = now() WHERE endpoint_id = ${uuidFromId(further as Id<'whe'>)}`;
  const [asked, disabled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  receiver.answer(response => {
    asked.resolve();
    void disabled.promise.then(() => withStatus(200)(response));
  });
  const checking = second.post(`/partners/${partnerId}/webhook/check?endpoint_id=${further}`);
  await asked.promise;
  await answers(200, admin.post(`/operators/${operator.operator_id}/disable`));
  disabled.resolve();
  await answers('401 signed_out', checking);
  expect(await findWebhook(pool, partnerId, further as Id<'whe'>)).toMatchObject({ state: 'suspended' });
});
