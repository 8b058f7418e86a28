import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { addEndpoint, contractEvents, createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { startPortal } from '../helpers/portal.ts';

const { pool, sql } = await createDatabase();
const { member, address, audit } = await startPortal({ pool });
const vault = createVault(keyring);
await setRate(pool);

interface Row {
  event_id: string;
  endpoint_id: string;
  payment_id: string;
  external_id: string | null;
  state: string;
}

/** A partner with two endpoints and two payments, of which each has an order number. */
async function createShop() {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  await setWebhook(audit, vault, partnerId, 'https://shop.example/one');
  const more = { mode: 'test' as const, url: 'https://shop.example/two', events: contractEvents };
  await addEndpoint(audit, vault, partnerId, more);
  for (const [kopecks, external_id] of [
    [10_000, 'order 1'],
    [10_001, 'order-2'],
  ] as const)
    await partnerAt(address, testKey).pay({ qr_url: newLink(kopecks), external_id });
  const developer = await member(partnerId, 'developer');
  const list = async (asked: Record<string, string> = {}): Promise<Row[]> => {
    const query = new URLSearchParams({ mode: 'test', ...asked });
    return (await developer.read(`/deliveries?${query}`)).json.data;
  };
  const failAll = () =>
    pool.query('UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE partner_id = $1', [
      uuidFromId(partnerId),
    ]);
  return { partnerId, developer, list, failAll };
}

test('deliveries are searched by order number, payment and event, and filtered', async () => {
  const { developer, list } = await createShop();
  const rows = await list();
  expect(rows.map(row => row.external_id)).toEqual(['order-2', 'order-2', 'order 1', 'order 1']);
  const ofFirst = rows.slice(2);
  const { event_id, payment_id, endpoint_id } = ofFirst[0]!;
  for (const q of ['order 1', ' order 1 ', payment_id, event_id])
    expect(await list({ q }), q).toEqual(ofFirst);
  expect(await list({ q: 'order 3' })).toEqual([]);
  expect(await list({ q: 'order 1', state: 'delivered' })).toEqual([]);
  expect(await list({ endpoint_id })).toEqual(rows.filter(row => row.endpoint_id === endpoint_id));
  expect(await list({ event: 'payment.failed' })).toEqual(rows.slice(0, 2));
  expect(await list({ since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' })).toEqual([]);
  expect(await list({ since: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' })).toEqual(rows);
  for (const wrong of ['endpoint_id=x', 'event=x', 'since=x', 'after=x', `q=${'x'.repeat(3_000)}`])
    await answers(422, developer.read(`/deliveries?mode=test&${wrong}`), wrong);
});

test('all that failed and match are sent again, of this partner only', async () => {
  const { partnerId, developer, list, failAll } = await createShop();
  const other = await createShop();
  await failAll();
  await other.failAll();
  const count = async (query = '') => (await developer.read(`/deliveries/failed?mode=test${query}`)).json;
  expect(await count()).toEqual({ count: 4, is_complete: true });
  expect(await count('&q=order-2')).toEqual({ count: 2, is_complete: true });
  const resend = (body: object) =>
    developer.act('/deliveries/resend-failed', { mode: 'test', max: 500, ...body });
  expect((await resend({ q: 'order-2' })).json).toEqual({ queued: 2, next_cursor: null });
  expect((await list({ state: 'failed' })).map(row => row.external_id)).toEqual(['order 1', 'order 1']);
  expect((await resend({})).json).toEqual({ queued: 2, next_cursor: null });
  expect((await resend({})).json).toEqual({ queued: 0, next_cursor: null });
  expect(await other.list({ state: 'failed' })).toHaveLength(4);
  expect(
    await sql`SELECT after FROM audit WHERE action = 'webhook.resend_failed' AND subject = ${partnerId} ORDER BY id`,
  ).toEqual([{ after: { events: 2, mode: 'test' } }, { after: { events: 2, mode: 'test' } }]);
});

test('what an endpoint answered to a refused attempt is shown', async () => {
  const { developer, list, partnerId } = await createShop();
  const [{ event_id, endpoint_id }] = (await list()) as [Row];
  await sql`INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, response_body, duration_ms)
     VALUES (${uuidFromId(endpoint_id as `whe_${string}`)}, ${uuidFromId(partnerId)}, ${event_id.slice(4)}, 1, now(), 500, '{"error":"x"}', 7)`;
  const { json } = await developer.read(`/deliveries/${event_id}?endpoint_id=${endpoint_id}`);
  expect(json.attempts).toMatchObject([{ http_status: 500, response_body: '{"error":"x"}' }]);
});
