import Fastify from 'fastify';
import { beforeAll, expect, test } from 'vitest';
import { listKeys, type MemberRight, type MemberRole, memberRoles } from '../../src/partners/index.ts';
import { guard } from '../../src/portal/guard.ts';
import { createVault, listDeliveries, listWebhooks, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, keyring, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newPerson, type PortalRoute, startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const { routes, signIn, member, visit, deps, address, audit } = await startPortal({ pool });
await setRate(pool);

/** Every route, below the right that it needs, or below whom it is for. A new route must be added here. */
const routesByRight = `
money: everybody may leave, and only owners remove others
  GET /overview /payments /payments/totals /payments/export /payments/:id /payments/:id/receipt
  GET /balance /deposits /statement /report
  GET /rate /quote /quotes /team /pay/limits
  POST /team/:user_id/remove
follow:
  POST /qr /qr/photo
pay:
  POST /pay
integrate:
  GET /keys /webhook /deliveries /deliveries/failed /deliveries/:event_id /request-log /request-log/:request_id /body-log
  POST /keys /keys/:key_id/roll /keys/:key_id/revoke /keys/:key_id/addresses /balance/refill
  POST /webhook /webhook/:endpoint_id/address /webhook/:endpoint_id/events /webhook/:endpoint_id/ed25519
  POST /webhook/:endpoint_id/remove /webhook/:endpoint_id/secret /webhook/:endpoint_id/rotate
  POST /webhook/:endpoint_id/check /deliveries/:event_id/resend /deliveries/resend-failed
own:
  GET /monthly-report
  POST /monthly-report /monthly-report/addresses
  POST /monthly-report/addresses/confirm /monthly-report/addresses/remove
  POST /balance/alert /pay/limits /team/invite /team/:user_id/role /time-zone /body-log
person:
  GET /notices /sessions
  POST /join /logout /new-partner /notices /notices/language /sessions/:id/end
everybody:
  GET /session/current
  POST /sign-in /sign-in/telegram`;
const namesOf = (who: string) => {
  const [, lines] = new RegExp(`^${who}:.*\\n((?: .*\\n?)+)`, 'm').exec(routesByRight)!;
  return Array.from(lines!.matchAll(/(GET|POST) (.*)/g), ([, method, paths]) =>
    paths!.split(' ').map(path => `${method} ${path}`),
  ).flat();
};
/** Which roles have each right. */
const rolesByRight: Record<MemberRight, MemberRole[]> = {
  money: ['viewer', 'accountant', 'payer', 'developer', 'owner'],
  follow: ['viewer', 'payer', 'developer', 'owner'],
  pay: ['payer', 'owner'],
  integrate: ['developer', 'owner'],
  own: ['owner'],
};
const rights = Object.keys(rolesByRight) as MemberRight[];
const expected = Object.fromEntries(rights.flatMap(right => namesOf(right).map(name => [name, right])));

const prefix = '/portal/api';
const below = `${prefix}/partners/:partner_id`;
const ofApi = routes.filter(
  ({ url, method }) => url.startsWith(`${prefix}/`) && !url.endsWith('*') && method !== 'HEAD',
);
const ofPartners = ofApi
  .filter(({ url }) => url.startsWith(below))
  .map(route => ({ ...route, path: route.url.slice(below.length) }));
const guarded = ofApi.filter(({ allows }) => allows !== 'everybody');
const isChange = ({ method }: Pick<PortalRoute, 'method'>) => method !== 'GET';
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const bodyOf = (route: PortalRoute) => (isChange(route) ? {} : undefined);
const known = new Map<string, string>();

let mine: Awaited<ReturnType<typeof createPartnerWithKeys>>;
let others: Awaited<ReturnType<typeof createPartnerWithKeys>>;
/** What only the first partner may see. */
const secrets: string[] = [];

beforeAll(async () => {
  mine = await createPartnerWithKeys(pool);
  others = await createPartnerWithKeys(pool);
  const vault = createVault(keyring);
  await setWebhook(audit, vault, mine.partnerId, 'https://127.0.0.1:1/first-hook');
  await setWebhook(audit, vault, others.partnerId, 'https://127.0.0.1:1/second-hook');
  const payment = await partnerAt(address, mine.testKey).pay({
    qr_url: newLink(10_000),
    external_id: 'order-of-the-first',
  });
  const [key] = await listKeys(pool, mine.partnerId);
  const { deliveries } = await listDeliveries(pool, deps.clock, { partnerId: mine.partnerId }, { limit: 1 });
  const owner = newPerson('Owner of the first');
  await member(mine.partnerId, 'owner', owner);
  known.set('id', payment.json.id);
  known.set('key_id', key!.keyId);
  known.set('event_id', `evt_${deliveries[0]!.eventId}`);
  const [webhook] = await listWebhooks(pool, mine.partnerId);
  known.set('endpoint_id', webhook!.endpointId);
  known.set('user_id', `${owner.userId}`);
  secrets.push(payment.json.id, key!.keyId, 'order-of-the-first', 'first-hook', owner.name, mine.partnerId);
});

/** With ids of the first partner, whatever partner is asked for them, and the parameters that a read needs. */
const pathOf = (route: PortalRoute, { partnerId }: { partnerId: string }) =>
  route.url
    .slice(prefix.length)
    .replace(':partner_id', partnerId)
    .replaceAll(/:(\w+)/g, (_, name) => known.get(name) ?? 'none_0') +
  (isChange(route) ? '' : '?mode=test&day=2026-01-01&from=2026-01-01&to=2026-01-31&format=csv&language=en');

test('every route is listed with its right', () => {
  const listed = Object.fromEntries(ofPartners.map(route => [nameOf(route), route.allows]));
  expect(listed).toEqual(expected);
  const named = (allows: string) =>
    ofApi
      .filter(route => route.allows === allows)
      .map(({ method, url }) => `${method} ${url.slice(prefix.length)}`)
      .sort();
  expect(named('person')).toEqual(namesOf('person').sort());
  expect(named('everybody')).toEqual(namesOf('everybody').sort());
});

test('signed out, no route but those to sign in answers', async () => {
  for (const route of guarded)
    await answers(
      '401 signed_out',
      visit().call(route.method, pathOf(route, mine), bodyOf(route)),
      route.url,
    );
});

test('another partner does not exist for an owner elsewhere', async () => {
  const outsider = await member(others.partnerId, 'owner');
  for (const route of ofPartners) {
    await answers(
      '404 no_partner',
      outsider.call(route.method, pathOf(route, mine), bodyOf(route)),
      route.url,
    );
  }
});

test('data of another partner is not found under the own one', async () => {
  const bodies: Record<string, object> = {
    'POST /keys/:key_id/roll': { overlap_hours: 1 },
    'POST /keys/:key_id/addresses': { allowed_addresses: [] },
    'POST /team/:user_id/role': { role: 'viewer' },
    'POST /webhook/:endpoint_id/address': { url: 'https://127.0.0.1:1/third-hook' },
    'POST /webhook/:endpoint_id/events': { events: ['payment.succeeded'] },
    'POST /webhook/:endpoint_id/ed25519': { is_on: true },
    'POST /deliveries/resend-failed': { mode: 'test', max: 500, q: 'order-of-the-first' },
  };
  for (const route of ofPartners) {
    // A new one for each route: an owner may remove themselves.
    const outsider = await member(others.partnerId, 'owner');
    const body = bodies[nameOf(route)] ?? bodyOf(route);
    const { status, text } = await outsider.call(route.method, pathOf(route, others), body);
    if (route.path.includes(':')) expect(status, route.url).toBe(404);
    expect(status, route.url).toBeLessThan(500);
    for (const secret of secrets) expect(text, route.url).not.toContain(secret);
  }
});

test.each(memberRoles)('%s may call exactly the routes that are listed', async role => {
  const one = await member(others.partnerId, role);
  for (const route of ofPartners) {
    const { status, json } = await one.call(route.method, pathOf(route, others), bodyOf(route));
    if (rolesByRight[expected[nameOf(route)]!].includes(role)) {
      expect(status, route.url).not.toBe(401);
      expect(status, route.url).toBeLessThan(500);
    } else expect({ status, code: json.error.code }, route.url).toEqual({ status: 403, code: 'forbidden' });
  }
});

test('an accountant sees no webhook in the timeline of a payment, nor its state', async () => {
  const path = `/payments/${known.get('id')}`;
  const whatIn = async (role: MemberRole) => {
    const one = await member(mine.partnerId, role);
    expect((await one.read('/overview?mode=test')).json.webhook_state === 'none').toBe(role === 'accountant');
    return (await one.read(path)).json.timeline.map(({ what }: { what: string }) => what);
  };
  expect(await whatIn('viewer')).toContain('payment.succeeded');
  expect(await whatIn('accountant')).toEqual(['created', 'hold', 'settle', 'succeeded']);
});

test('no change from another origin or session', async () => {
  const one = await member(mine.partnerId, 'owner');
  const other = await signIn(newPerson());
  for (const route of guarded.filter(isChange))
    for (const headers of [
      { 'x-csrf-token': '' },
      // The token of another session.
      { 'x-csrf-token': other.csrfToken! },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      await answers('403 csrf', one.post(pathOf(route, mine), {}, headers), route.url);
    }
});

test('a route without a declared right, or outside of its partner, is not registered', () => {
  const server = Fastify();
  guard(server, { ...deps, db: pool, readsOf: () => pool });
  expect(() => server.get('/open', () => ({}))).toThrow('GET /open does not declare whom it allows');
  expect(() => server.get('/keys', { config: { allows: 'own' } }, () => ({}))).toThrow('routes for members');
});
