import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { guard } from '../../src/console/guard.ts';
import { type OperatorRole, operatorRoles } from '../../src/operators/index.ts';
import { type ConsoleRoute, refusal, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const { routes, signIn, visit, deps } = await startConsole({ pool });

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
    expect(await visit().call(route.method, callable(route), bodyOf(route)), route.path).toMatchObject(
      refusal(401, 'signed_out'),
    );
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
      expect(await admin.post(callable(route), {}, headers), route.path).toMatchObject(refusal(403, 'csrf'));
});

test('a route without a declared permission is not registered', () => {
  const server = Fastify();
  guard(server, deps);
  expect(() => server.get('/open', () => ({}))).toThrow('GET /open does not declare what it needs');
});
