import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { guard } from '../../src/console/guard.ts';
import { type OperatorRole, operatorRoles } from '../../src/operators/index.ts';
import { type ConsoleRoute, startConsole } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const { routes, signIn, visit, deps } = await startConsole({ pool });

/** Every route that changes something, and the roles that may call it. A new route must be added here. */
const changes: Record<string, OperatorRole[]> = {
  '/logout': ['viewer', 'support', 'finance', 'admin'],
  '/sessions/:id/revoke': ['viewer', 'support', 'finance', 'admin'],
  '/operators': ['admin'],
  '/operators/:id/reset': ['admin'],
  '/operators/:id/disable': ['admin'],
  '/operators/:id/enable': ['admin'],
  '/operators/:id/role': ['admin'],
  '/operators/:id/sign-out': ['admin'],
  '/alarms/:id/clear': ['support', 'finance', 'admin'],
  '/payments/:id/ask': ['support', 'admin'],
  '/payments/:id/resolve': ['support', 'finance', 'admin'],
  '/recovery/release': ['support', 'finance', 'admin'],
  '/deposits/:id/release': ['finance', 'admin'],
  '/deposits/:id/reject': ['finance', 'admin'],
  '/partners': ['support', 'admin'],
  '/partners/:id/approve': ['finance', 'admin'],
  '/partners/:id/refuse': ['finance', 'admin'],
  '/partners/:id/suspend': ['support', 'admin'],
  '/partners/:id/resume': ['support', 'admin'],
  '/partners/:id/limits': ['finance', 'admin'],
  '/partners/:id/credit': ['finance', 'admin'],
  '/partners/:id/webhook/check': ['support', 'admin'],
  '/partners/:id/endpoints': ['support', 'admin'],
  '/partners/:id/endpoints/:endpoint_id/address': ['support', 'admin'],
  '/partners/:id/endpoints/:endpoint_id/events': ['support', 'admin'],
  '/partners/:id/endpoints/:endpoint_id/ed25519': ['support', 'admin'],
  '/partners/:id/endpoints/:endpoint_id/remove': ['support', 'admin'],
  '/keys/:key_id/revoke': ['support', 'admin'],
  '/keys/:key_id/addresses': ['support', 'admin'],
  '/events/:id/resend': ['support', 'admin'],
  '/ledger/verify': ['finance', 'admin'],
  '/rates/rules': ['finance', 'admin'],
  '/recipients/block': ['support', 'admin'],
  '/recipients/unblock': ['support', 'admin'],
  '/reconciliations': ['finance', 'admin'],
  '/settings/maintenance': ['admin'],
  '/settings/maintenance/plan': ['admin'],
  '/settings/maintenance/cancel': ['admin'],
  '/settings/thresholds': ['admin'],
  // Computes only; changes nothing.
  '/rates/what-if': ['viewer', 'support', 'finance', 'admin'],
  // The permission depends on the kind of request and is checked when it is decided.
  '/requests/:id/approve': ['viewer', 'support', 'finance', 'admin'],
  '/requests/:id/refuse': ['viewer', 'support', 'finance', 'admin'],
  '/requests/:id/withdraw': ['viewer', 'support', 'finance', 'admin'],
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

test('every route is listed: reads need `see`, changes have the roles above', () => {
  expect(ofApi.filter(({ method }) => !['GET', 'POST'].includes(method))).toEqual([]);
  expect(guarded.filter(route => !isChange(route) && route.needs !== 'see')).toEqual([]);
  const open = ofApi.filter(({ needs }) => needs === 'nothing').map(({ path }) => path);
  expect(open.sort()).toEqual(beforeSigningIn);
  const paths = guarded.filter(isChange).map(({ path }) => path);
  expect(paths.sort()).toEqual(Object.keys(changes).sort());
});

describe.each(operatorRoles)('%s', role => {
  test.each(guarded)('$method $path', async route => {
    const mayDo = isChange(route) ? changes[route.path]!.includes(role) : true;
    const operator = await signIn(role);
    const { status, json } = await operator.call(
      route.method,
      callable(route),
      isChange(route) ? {} : undefined,
    );
    if (mayDo) {
      expect([401, 403]).not.toContain(status);
      expect(status).toBeLessThan(500);
    } else expect({ status, json }).toMatchObject({ status: 403, json: { error: { code: 'forbidden' } } });
  });
});

test.each(guarded)('signed out: $method $path', async route => {
  const answer = await visit().call(route.method, callable(route), isChange(route) ? {} : undefined);
  expect(answer).toMatchObject({ status: 401, json: { error: { code: 'signed_out' } } });
});

test.each(guarded.filter(isChange))('no change from another origin or session: $path', async route => {
  const admin = await signIn('admin');
  for (const headers of [
    { 'x-csrf-token': '' },
    { origin: 'null' },
    { origin: '' },
    { 'sec-fetch-site': 'same-site' },
  ])
    expect(await admin.post(callable(route), {}, headers)).toMatchObject({
      status: 403,
      json: { error: { code: 'csrf' } },
    });
  // The token of another session does not work either.
  const other = await signIn('admin');
  expect((await admin.post(callable(route), {}, { 'x-csrf-token': other.csrfToken! })).status).toBe(403);
});

test('a route without a declared permission is not registered', () => {
  const server = Fastify();
  guard(server, deps);
  expect(() => server.get('/open', () => ({}))).toThrow('GET /open does not declare what it needs');
});
