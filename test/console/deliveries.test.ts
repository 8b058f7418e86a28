import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createVault, readSecrets, setWebhook } from '../../src/webhooks/index.ts';
import { keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers, startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase, createPartnerWithKeys } from '../helpers/database.ts';

const { pool, sql } = await createDatabase();
const { address, signIn } = await startConsole({ pool });
const vault = createVault(keyring);
const [viewer, support] = [await signIn('viewer'), await signIn('support')];

// The events of two partners: a success and a failure of each, all of them pending.
await setRate(pool);
const [shop, other] = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
for (const { partnerId, testKey } of [shop, other]) {
  await setWebhook(auditContextOf(pool), vault, partnerId, `https://shop.example/${partnerId}`);
  for (const kopecks of [10_000, 10_001]) await partnerAt(address, testKey).pay({ qr_url: newLink(kopecks) });
}

interface Row {
  event_id: string;
  event: string;
  partner_id: string;
  state: string;
}
const list = async (asked = ''): Promise<Row[]> => (await viewer.get(`/deliveries?${asked}`)).json.data;
const attempt = (row: Row, status: number | null, error: string | null) =>
  pool.query(
    `INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, error, duration_ms)
     VALUES ($1, $1, $2, 1, now(), $3, $4, 31)`,
    [uuidFromId(row.partner_id as `prt_${string}`), row.event_id.slice(4), status, error],
  );

describe('GET /deliveries', () => {
  test('lists the deliveries of all partners, newest first, page by page', async () => {
    const rows = await list();
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatchObject({
      event: 'payment.failed',
      partner_id: other.partnerId,
      partner: 'Test shop',
      mode: 'test',
      payment_id: expect.stringMatching(/^pay_/),
      state: 'pending',
      attempts: 0,
      next_attempt_at: expect.any(String),
      last_attempt: null,
      endpoint: { url: `https://shop.example/${other.partnerId}`, state: 'active' },
    });
    const first = await viewer.get('/deliveries?limit=3');
    const second = await viewer.get(`/deliveries?limit=3&after=${first.json.next_cursor}`);
    expect([...first.json.data, ...second.json.data]).toEqual(rows);
    expect(second.json.next_cursor).toBeNull();
  });

  test('filters by each field', async () => {
    const [newest, , , oldest] = await list();
    await attempt(newest!, null, 'refused');
    await attempt(oldest!, 204, null);
    await pool.query('DELETE FROM deliveries WHERE event_id = $1', [oldest!.event_id.slice(4)]);
    await sql`UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = ${newest!.event_id.slice(4)}`;
    const ids = async (asked: string) => (await list(asked)).map(({ event_id }) => event_id);
    expect(await ids('state=delivered')).toEqual([oldest!.event_id]);
    expect(await ids('state=failed')).toEqual([newest!.event_id]);
    expect(await ids('state=pending')).toHaveLength(2);
    expect(await ids(`partner_id=${shop.partnerId}&event=payment.succeeded`)).toEqual([oldest!.event_id]);
    expect(await ids('mode=live')).toEqual([]);
    expect(await ids('mode=test&event=payment.failed')).toHaveLength(2);
    expect(await ids('since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z')).toEqual([]);
    expect(await ids('since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z')).toHaveLength(4);
    expect((await list('state=failed'))[0]).toMatchObject({
      attempts: 9,
      next_attempt_at: null,
      last_attempt: { http_status: null, error: 'refused' },
    });
  });

  test('names endpoints that are failing or suspended', async () => {
    const stateOf = async (partnerId: string) => {
      const [row] = (await viewer.get(`/deliveries?partner_id=${partnerId}`)).json.data;
      const { partner, endpoints } = (await viewer.get(`/partners/${partnerId}`)).json;
      expect([partner.webhook_state, endpoints[0].state]).toEqual([row.endpoint.state, row.endpoint.state]);
      return row.endpoint.state;
    };
    expect(await stateOf(shop.partnerId)).toBe('active');
    await sql`UPDATE endpoints SET given_up = 1 WHERE endpoint_id = ${uuidFromId(shop.partnerId)}`;
    expect(await stateOf(shop.partnerId)).toBe('failing');
    await sql`UPDATE endpoints SET suspended_at = now() WHERE endpoint_id = ${uuidFromId(shop.partnerId)}`;
    expect(await stateOf(shop.partnerId)).toBe('suspended');
  });
});

describe('GET /deliveries/:partner_id/:event_id', () => {
  test('has the request as it is sent and what came back, without a signature or a secret', async () => {
    const [row] = await list('state=failed');
    const { json, text } = await viewer.get(`/deliveries/${row!.partner_id}/${row!.event_id}`);
    expect(json.delivery).toEqual(row);
    expect(json.attempts).toMatchObject([
      { attempt: 1, http_status: null, error: 'refused', duration_ms: 31 },
    ]);
    expect(json.request.headers).toMatchObject({
      'x-service-event': 'payment.failed',
      'x-service-delivery': expect.stringMatching(/^whd_/),
    });
    expect(Object.keys(json.request.headers)).not.toContain('x-service-signature');
    const body = JSON.parse(json.request.body);
    expect(body).toMatchObject({ id: row!.event_id, event: 'payment.failed', data: { status: 'failed' } });
    for (const secret of await readSecrets(pool, vault, other.partnerId, Date.now()))
      expect(text).not.toContain(secret);
  });

  test('of another partner, or unknown: not found', async () => {
    const [row] = await list('state=failed');
    for (const path of [
      `${shop.partnerId}/${row!.event_id}`,
      `${other.partnerId}/evt_999999`,
      `${other.partnerId}/nothing`,
      `prt_nobody/${row!.event_id}`,
    ])
      await answers(404, viewer.get(`/deliveries/${path}`), path);
  });
});

test('sending again with the partner of the event: audited, and only by those who may', async () => {
  const [row] = await list('state=failed');
  const resend = (who: typeof viewer, partnerId: string) =>
    who.post(`/events/${row!.event_id}/resend?partner_id=${partnerId}`, {});
  await answers(403, resend(viewer, other.partnerId));
  await answers(404, resend(support, shop.partnerId));
  await answers(404, resend(support, 'nobody'));
  expect(await list('state=failed')).toHaveLength(1);
  expect((await resend(support, other.partnerId)).json).toEqual({ outcome: 'done' });
  expect(await list('state=failed')).toEqual([]);
  expect(await sql`SELECT actor, after FROM audit WHERE action = 'webhook.resend'`).toEqual([
    { actor: `operator:${support.name}`, after: { event_id: row!.event_id } },
  ]);
});

describe('all that failed', () => {
  const fail = (rows: Row[]) =>
    pool.query('UPDATE deliveries SET failed_at = now(), attempts = 9 WHERE event_id = ANY ($1)', [
      rows.map(({ event_id }) => event_id.slice(4)),
    ]);
  const count = async (asked = '') => (await viewer.get(`/deliveries/failed?${asked}`)).json;
  const resend = (body: object) => support.post('/deliveries/resend-failed', { max: 500, ...body });

  test('and matches the filter is counted and sent again, also what is on no page', async () => {
    const ofOther = await list(`partner_id=${other.partnerId}&state=pending`);
    const [ofShop] = await list(`partner_id=${shop.partnerId}&state=pending`);
    await fail([...ofOther, ofShop!]);
    expect(await count()).toEqual({ count: ofOther.length + 1, is_complete: true });
    expect(await count(`partner_id=${shop.partnerId}`)).toEqual({ count: 1, is_complete: true });
    expect(await count('mode=live')).toEqual({ count: 0, is_complete: true });

    const filter = { partner_id: other.partnerId, mode: 'test' };
    expect((await resend(filter)).json).toEqual({ queued: ofOther.length, next_cursor: null });
    expect(await list('state=failed')).toHaveLength(1);
    expect(
      (await list(`partner_id=${other.partnerId}&state=pending`)).map(({ event_id }) => event_id),
    ).toEqual(ofOther.map(({ event_id }) => event_id));
    expect(await sql`SELECT actor, subject, after FROM audit WHERE action = 'webhook.resend_failed'`).toEqual(
      [
        {
          actor: `operator:${support.name}`,
          subject: other.partnerId,
          after: { events: ofOther.length, mode: 'test' },
        },
      ],
    );
  });

  test('goes out in batches, of which each begins where the last one ended', async () => {
    const rows = await list('state=pending');
    await fail(rows);
    const all = (await count()).count;
    let queued = 0;
    for (let after: string | null = ''; after !== null; ) {
      const { json } = await resend({ max: 1, ...(after && { after }) });
      expect(json.queued).toBe(1);
      queued += json.queued;
      after = json.next_cursor;
    }
    expect([queued, (await count()).count]).toEqual([all, 0]);
  });

  test('is sent again only by those who may, and only with a filter that can be read', async () => {
    await answers(403, viewer.post('/deliveries/resend-failed', { max: 1 }));
    for (const body of [
      { max: 501 },
      { after: 'x' },
      { partner_id: 'x' },
      { endpoint_id: 'x' },
      { since: 'x' },
    ])
      await answers(422, resend(body), JSON.stringify(body));
  });
});
