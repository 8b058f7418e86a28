import { expect, test } from 'vitest';
import { startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool } = await createDatabase();
const { signIn, visit, address } = await startConsole({ pool });

test('the current session can be read without signing in', async () => {
  expect(await visit().get('/session/current')).toMatchObject({ status: 200, json: { session: null } });
  const admin = await signIn('admin');
  expect((await admin.get('/session/current')).json.session).toEqual((await admin.get('/session')).json);
});

test('a session has its operator and permissions', async () => {
  const support = await signIn('support');
  expect(await support.get('/session')).toMatchObject({
    status: 200,
    json: {
      operator: { name: support.name, role: 'support' },
      permissions: expect.arrayContaining(['payments.ask']),
    },
  });
});

test('signing out ends the session: its old cookie is refused', async () => {
  const viewer = await signIn('viewer');
  const { cookie } = viewer;
  expect(await viewer.post('/logout')).toMatchObject({ status: 200, json: { outcome: 'done' } });
  viewer.cookie = cookie;
  expect((await viewer.get('/session')).status).toBe(401);
});

const ofPayments = ['partner_id=x', 'created_after=then', 'mode=both', 'amount_rub=many', 'q=%00'];
const unreadable = {
  '/payments': [...ofPayments, 'after=x', 'payment_id=pay_1', 'limit=0', 'limit=101', 'status=rejected'],
  '/payments/totals': ofPayments,
  '/payments/export': ofPayments,
  '/review': ['after=x'],
  '/deliveries': [
    ...['after=x', 'after=evt_x', 'partner_id=prt_1', 'since=2026-02-30T00:00:00Z', 'until=tomorrow'],
    ...['state=none', 'state=%00', 'event=x', 'mode=both', 'limit=0'],
  ],
  '/request-log': [
    ...['request_id=req_1', 'request_id=prt_01h00000000000000000000000', 'status=4', 'status=6xx', 'after=x'],
    ...['since=yesterday', 'until=2026-02-30T00:00:00Z', 'limit=0', 'limit=101', 'path=%00'],
    `path=${'x'.repeat(2_049)}`,
  ],
  '/deposits': ['after=nonsense', 'partner_id=nonsense', 'state=nonsense', 'limit=0'],
  '/audit': ['since=yesterday'],
  '/ledger/entries': ['mode=live'],
  '/rates': ['hours=721'],
  '/overview': ['minutes=0'],
};

test.each(Object.entries(unreadable))('%s refuses parameters that it cannot read', async (path, queries) => {
  const viewer = await signIn('viewer');
  for (const query of queries)
    expect(await viewer.get(`${path}?${query}`), query).toMatchObject({ status: 422 });
});

test('no parameter causes an internal error', async () => {
  const admin = await signIn('admin');
  for (const path of [
    '/payments?q=%00',
    '/payments?external_id=a%00b',
    '/payments?created_before=%2B275760-09-13T00:00:00Z',
    '/payments?created_after=12000',
    '/audit?actor=%00',
    '/audit?after=99999999999999999.1',
    '/partners?q=%00',
  ])
    expect((await admin.get(path)).status, path).toBeLessThan(500);
  expect((await admin.get('/payments?q=%2500')).status).toBe(200);
  expect((await admin.post('/keys/%00/revoke')).status).toBe(422);
});

test('an unknown route is not found, and /openapi.json has no console routes', async () => {
  expect((await visit().get('/elsewhere')).status).toBe(404);
  const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(paths).filter(path => path.includes('console'))).toEqual([]);
});

test('behind a proxy the origin is that of the proxy or of the setting', async () => {
  const proxied = await startConsole({ pool, trustProxy: ['127.0.0.1'], publicUrl: 'https://pay.example/' });
  const status = async (headers: Record<string, string>) =>
    (await (await proxied.signIn('viewer')).post('/logout', undefined, headers)).status;
  expect(await status({ origin: 'https://pay.example' })).toBe(200);
  expect(await status({ origin: 'https://ops.example', 'x-forwarded-host': 'ops.example' })).toBe(200);
  expect(await status({ origin: 'http://pay.example' })).toBe(403);
  expect(await status({ origin: 'https://other.example' })).toBe(403);
});

test.each([
  ['is disabled', 401, 'signed_out'],
  ['gets a lower role', 403, 'forbidden'],
])('an operator who %s while a request arrives changes nothing', async (what, status, code) => {
  const admin = await signIn('admin');
  const second = await signIn('admin');
  const finish = await sendSlowly(second, `${address}/console/api/recipients/block`, { recipient: what });
  await second.get('/session');
  const { operator } = (await second.get('/session')).json;
  const path = `/operators/${operator.operator_id}`;
  const changed = await (what === 'is disabled'
    ? admin.post(`${path}/disable`)
    : admin.post(`${path}/role`, { role: 'viewer' }));
  expect(changed.status).toBe(200);
  expect(await finish()).toMatchObject({ status, json: { error: { code } } });
  expect((await admin.get('/recipients')).text).not.toContain(what);
});
