import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { guard } from '../../src/console/guard.ts';
import { operatorRoles } from '../../src/operators/index.ts';
import { answers, type ConsoleRoute, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool } = await createDatabase();
const { address, routes, signIn, visit, deps } = await startConsole({ pool });

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
  await answers(401, viewer.get('/session'));
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
  '/alarms': ['state=x', 'since=x', 'until=2026-02-30T00:00:00Z', 'after=x', 'limit=0', 'kind=%00'],
  '/deliveries/failed': ['partner_id=prt_1', 'endpoint_id=x', 'until=tomorrow', 'event=x'],
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
  await answers(200, admin.get('/payments?q=%2500'));
  await answers(422, admin.post('/keys/%00/revoke'));
});

test('an unknown route is not found, and /openapi.json has no console routes', async () => {
  await answers(404, visit().get('/elsewhere'));
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

/** Every route that changes something, below the roles that may call it. A new route must be added here. */
const changesByRole = `
viewer support finance admin:
  /logout /sessions/:id/revoke
  /rates/what-if - computes only, and changes nothing
  /requests/:id/approve /requests/:id/refuse /requests/:id/withdraw - what a request needs is checked when it is decided
support finance admin:
  /alarms/:id/clear /payments/:id/resolve /recovery/release /partners/:id/contacts
support admin:
  /payments/:id/ask /partners /partners/:id/suspend /partners/:id/resume /partners/:id/webhook/check
  /partners/:id/endpoints /partners/:id/endpoints/:endpoint_id/address /partners/:id/endpoints/:endpoint_id/events
  /partners/:id/endpoints/:endpoint_id/ed25519 /partners/:id/endpoints/:endpoint_id/remove
  /keys/:key_id/revoke /keys/:key_id/addresses /events/:id/resend /deliveries/resend-failed
  /recipients/block /recipients/unblock
finance admin:
  /deposits/:id/release /deposits/:id/reject /partners/:id/approve /partners/:id/refuse /partners/:id/limits
  /partners/:id/credit /ledger/verify /rates/rules /reconciliations
admin:
  /operators /operators/:id/reset /operators/:id/disable /operators/:id/enable /operators/:id/role
  /operators/:id/sign-out /settings/maintenance /settings/maintenance/plan /settings/maintenance/cancel
  /settings/thresholds`;
const changes = Object.fromEntries(
  Array.from(changesByRole.matchAll(/^(\w.*):\n((?: .*\n?)+)/gm), ([, roles, paths]) =>
    paths!.match(/\/\S+/g)!.map(path => [path, roles!.split(' ')]),
  ).flat(),
);
const beforeSigningIn = ['/login', '/session/current', '/setup', '/setup/look'];

const prefix = '/console/api';
const ofApi = routes
  .filter(({ url }) => url.startsWith(`${prefix}/`) && !url.endsWith('*'))
  .map(route => ({ ...route, path: route.url.slice(prefix.length) }));
const guarded = ofApi.filter(({ needs }) => needs !== 'nothing');
/** With an id that does not exist. */
const callable = ({ path }: { path: string }) => path.replaceAll(/:\w+/g, 'none_0');
const isChange = ({ method }: Pick<ConsoleRoute, 'method'>) => method !== 'GET';
const bodyOf = (route: Pick<ConsoleRoute, 'method'>) => (isChange(route) ? {} : undefined);

test('every route is listed: reads need `see`, changes have the roles above', () => {
  expect(ofApi.filter(({ method }) => !['GET', 'POST'].includes(method))).toEqual([]);
  expect(guarded.filter(route => !isChange(route) && route.needs !== 'see')).toEqual([]);
  const open = ofApi.filter(({ needs }) => needs === 'nothing').map(({ path }) => path);
  expect(open.sort()).toEqual(beforeSigningIn);
  const paths = guarded.filter(isChange).map(({ path }) => path);
  expect(paths.sort()).toEqual(Object.keys(changes).sort());
});

test.each(operatorRoles)('%s may call exactly the routes that are listed', async role => {
  let operator = await signIn(role);
  for (const route of guarded) {
    const mayCall = !isChange(route) || changes[route.path]!.includes(role);
    const { status, json } = await operator.call(route.method, callable(route), bodyOf(route));
    const name = `${route.method} ${route.path}`;
    if (mayCall) {
      expect([401, 403], name).not.toContain(status);
      expect(status, name).toBeLessThan(500);
    } else expect({ status, code: json.error.code }, name).toEqual({ status: 403, code: 'forbidden' });
    if (route.path === '/logout') operator = await signIn(role);
  }
});

test('signed out, no route but those to sign in answers', async () => {
  for (const route of guarded)
    await answers('401 signed_out', visit().call(route.method, callable(route), bodyOf(route)), route.path);
});

test('no change from another origin or session', async () => {
  const [admin, other] = [await signIn('admin'), await signIn('admin')];
  for (const route of guarded.filter(isChange))
    for (const headers of [
      { 'x-csrf-token': '' },
      // The token of another session.
      { 'x-csrf-token': other.csrfToken! },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { 'sec-fetch-site': 'same-site' },
    ])
      await answers('403 csrf', admin.post(callable(route), {}, headers), route.path);
});

test('a route without a declared permission is not registered', () => {
  const server = Fastify();
  guard(server, deps);
  expect(() => server.get('/open', () => ({}))).toThrow('GET /open does not declare what it needs');
});
