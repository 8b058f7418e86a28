import { expect, test } from 'vitest';
import { startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool } = await createDatabase();
const { signIn, visit, address } = await startConsole({ pool });

test('a request without a session is refused', async () => {
  expect(await visit().get('/session')).toMatchObject({
    status: 401,
    json: { error: { code: 'signed_out' } },
  });
});

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

test('a change needs the CSRF token and our origin', async () => {
  const viewer = await signIn('viewer');
  for (const headers of [
    { 'x-csrf-token': 'x' },
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    expect(await viewer.post('/logout', undefined, headers)).toMatchObject({
      status: 403,
      json: { error: { code: 'csrf' } },
    });
  expect(await viewer.post('/logout')).toMatchObject({ status: 200, json: { outcome: 'done' } });
  expect((await viewer.get('/session')).status).toBe(401);
});

test('signing out ends the session: its old cookie is refused', async () => {
  const viewer = await signIn('viewer');
  const { cookie } = viewer;
  await viewer.post('/logout');
  viewer.cookie = cookie;
  expect((await viewer.get('/session')).status).toBe(401);
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
