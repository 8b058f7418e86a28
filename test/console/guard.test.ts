import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { guard } from '../../src/console/guard.ts';
import { type OperatorRole, operatorRoles } from '../../src/operators/index.ts';
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

const everybody = [...operatorRoles];
const supporters: OperatorRole[] = ['support', 'admin'];
const financiers: OperatorRole[] = ['finance', 'admin'];
const allButViewers: OperatorRole[] = ['support', 'finance', 'admin'];
const admins: OperatorRole[] = ['admin'];

/** Every route that changes something, and the roles that may call it. A new route must be added here. */
const changes: Record<string, OperatorRole[]> = {
  '/logout': everybody,
  '/sessions/:id/revoke': everybody,
  '/operators': admins,
  '/operators/:id/reset': admins,
  '/operators/:id/disable': admins,
  '/operators/:id/enable': admins,
  '/operators/:id/role': admins,
  '/operators/:id/sign-out': admins,
  '/alarms/:id/clear': allButViewers,
  '/payments/:id/ask': supporters,
  '/payments/:id/resolve': allButViewers,
  '/recovery/release': allButViewers,
  '/deposits/:id/release': financiers,
  '/deposits/:id/reject': financiers,
  '/partners': supporters,
  '/partners/:id/approve': financiers,
  '/partners/:id/refuse': financiers,
  '/partners/:id/suspend': supporters,
  '/partners/:id/resume': supporters,
  '/partners/:id/limits': financiers,
  '/partners/:id/credit': financiers,
  '/partners/:id/webhook/check': supporters,
  '/partners/:id/endpoints': supporters,
  '/partners/:id/endpoints/:endpoint_id/address': supporters,
  '/partners/:id/endpoints/:endpoint_id/events': supporters,
  '/partners/:id/endpoints/:endpoint_id/ed25519': supporters,
  '/partners/:id/endpoints/:endpoint_id/remove': supporters,
  '/keys/:key_id/revoke': supporters,
  '/keys/:key_id/addresses': supporters,
  '/events/:id/resend': supporters,
  '/ledger/verify': financiers,
  '/rates/rules': financiers,
  '/recipients/block': supporters,
  '/recipients/unblock': supporters,
  '/reconciliations': financiers,
  '/settings/maintenance': admins,
  '/settings/maintenance/plan': admins,
  '/settings/maintenance/cancel': admins,
  '/settings/thresholds': admins,
  // Computes only; changes nothing.
  '/rates/what-if': everybody,
  // The permission depends on the kind of request and is checked when it is decided.
  '/requests/:id/approve': everybody,
  '/requests/:id/refuse': everybody,
  '/requests/:id/withdraw': everybody,
};
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
