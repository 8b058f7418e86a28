import { test as base, expect } from 'vitest';
import { createPortalLink } from '../../src/partners/index.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createTimedDatabase } from '../helpers/database.ts';
import { initDataOf, newPerson, startPortal } from '../helpers/portal.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-11-17T12:00:00Z');
const { visit, signIn, audit, address, join } = await startPortal({
  pool,
  clock,
  trustProxy: ['127.0.0.1'],
});
const minuteMs = 60_000;
let networks = 0;
const fromElsewhere = () => ({ 'x-forwarded-for': `198.51.100.${++networks}` });
const noLink = '404 no_link';
const current = async (browser: ReturnType<typeof visit>, headers = {}) =>
  (await browser.get('/session/current', headers)).json.session;
const test = base.extend('one', () => signIn(newPerson()));

test('a link signs in once', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const person = newPerson('Anna');
  await join(partnerId, person, 'developer');
  const token = await createPortalLink(audit, person);
  const browser = visit();
  const answer = await browser.post('/sign-in', { token });
  expect(answer).toMatchObject({
    status: 200,
    json: { person: { name: 'Anna' }, partners: [{ partner_id: partnerId, role: 'developer' }] },
  });
  const cookie = answer.headers.get('set-cookie');
  expect(cookie).toMatch(/^__Host-kopeck-portal=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  expect(await current(browser)).toMatchObject({ person: { name: 'Anna' } });
  await answers(noLink, visit().post('/sign-in', { token }));
});

test('the pages learn where support is', async () => {
  const answer = (await visit().get('/session/current')).json;
  expect(answer).toMatchObject({ session: null, support_url: null });
  const supported = await startPortal({ pool, supportUrl: 'https://t.me/kopeck_help' });
  const { support_url } = (await supported.visit().get('/session/current')).json;
  expect(support_url).toBe('https://t.me/kopeck_help');
});

test('of two requests with one link, one signs in', async () => {
  const token = await createPortalLink(audit, newPerson());
  const given = await Promise.all([1, 2, 3].map(() => visit().post('/sign-in', { token })));
  expect(given.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
});

test('a link is valid for ten minutes, and until the next one', async () => {
  const person = newPerson();
  const first = await createPortalLink(audit, person);
  const second = await createPortalLink(audit, person);
  await answers(noLink, visit().post('/sign-in', { token: first }));
  clock.advance(10 * minuteMs);
  await answers(noLink, visit().post('/sign-in', { token: second }));
  for (const token of ['', 'x'.repeat(43), '../..', '\u0000'])
    expect((await visit().post('/sign-in', { token })).status).toBeOneOf([404, 422]);
});

test('the link stores no token, and neither does the session', async () => {
  const token = await createPortalLink(audit, newPerson());
  const browser = visit();
  await browser.post('/sign-in', { token });
  const rows = await sql`SELECT t::text FROM portal_links t UNION ALL SELECT s::text FROM portal_sessions s`;
  const stored = JSON.stringify(rows);
  expect(stored).not.toContain(token);
  expect(stored).not.toContain(browser.cookie!.split('=')[1]);
});

test('a Mini App signs in with the data that Telegram has signed, once', async () => {
  const user = { id: 279_058_397, first_name: 'Vladislav', last_name: 'K.' };
  const init_data = initDataOf(user, { at: new Date(clock.nowMs()) });
  expect(await visit().post('/sign-in/telegram', { init_data })).toMatchObject({
    status: 200,
    json: { person: { user_id: '279058397', name: 'Vladislav K.' }, partners: [] },
  });
  await answers(noLink, visit().post('/sign-in/telegram', { init_data }));
  // In another order it is the same data.
  const reordered = new URLSearchParams([...new URLSearchParams(init_data)].reverse()).toString();
  await answers(noLink, visit().post('/sign-in/telegram', { init_data: reordered }));
});

test.each([
  ['A\u0000nna', 'Anna'],
  ['An\ud800na', 'An\ufffdna'],
  ['Anna\n\u202eB', 'AnnaB'],
  ['🦊'.repeat(65), '🦊'.repeat(64)],
])('a name that Telegram has signed can be stored: %j', async (first_name, name) => {
  const init_data = initDataOf({ id: ++networks, first_name }, { at: new Date(clock.nowMs()) });
  const answer = await visit().post('/sign-in/telegram', { init_data }, fromElsewhere());
  expect(answer).toMatchObject({ status: 200, json: { person: { name } } });
});

test('the hash covers the signature for third parties; clients before Telegram 8.0 send none', async () => {
  const at = new Date(clock.nowMs());
  // As phones send it: opened from a profile, so without `query_id`, and with characters that must be escaped.
  const user = { id: 5, first_name: 'A + B - ? /', photo_url: 'https://t.me/i/userpic/320/x.svg' };
  const fields = { query_id: undefined, chat_instance: '8134722200314281151', chat_type: 'private' };
  const signature = 'TYJxVcisqbWjtodPepiJ6ghziUL94-KNpG8Pau-X7oNNLNBM72APCpi_RKiUlBvcqo5L';
  for (const more of [{ ...fields, signature }, { ...fields, signature: undefined }, {}])
    expect(
      await visit().post(
        '/sign-in/telegram',
        { init_data: initDataOf(user, { at, ...more }) },
        fromElsewhere(),
      ),
    ).toMatchObject({ status: 200, json: { person: { user_id: '5', name: 'A + B - ? /' } } });
  const stripped = new URLSearchParams(initDataOf(user, { at, ...fields, signature }));
  stripped.delete('signature');
  await answers(noLink, visit().post('/sign-in/telegram', { init_data: `${stripped}` }, fromElsewhere()));
});

test.each([
  ['signed by another bot', () => initDataOf({ id: 5 }, { token: 'another', at: new Date(clock.nowMs()) })],
  ['older than ten minutes', () => initDataOf({ id: 5 }, { at: new Date(clock.nowMs() - 11 * minuteMs) })],
  ['from the future', () => initDataOf({ id: 5 }, { at: new Date(clock.nowMs() + 2 * minuteMs) })],
  ['without a person', () => initDataOf({}, { at: new Date(clock.nowMs()) })],
  ['of another person', () => initDataOf({ id: 5 }, { at: new Date(clock.nowMs()) }).replace('%3A5', '%3A6')],
  ['without a time', () => initDataOf({ id: 5 }, { at: new Date(Number.NaN) })],
  ['nothing', () => ''],
  ['not even that', () => 'hash=%ff&user=%7B'],
])('a Mini App is refused: %s', async (_what, data) => {
  await answers(noLink, visit().post('/sign-in/telegram', { init_data: data() }, fromElsewhere()));
});

test('attempts of one network are limited', async () => {
  const from = fromElsewhere();
  const statuses = [];
  for (let attempt = 0; attempt < 61; attempt++)
    statuses.push((await visit().post('/sign-in', { token: 'x' }, from)).status);
  expect(new Set(statuses.slice(0, 60))).toEqual(new Set([404]));
  expect(statuses.at(-1)).toBe(429);
  await answers(404, visit().post('/sign-in', { token: 'x' }, fromElsewhere()));
});

test('a device is remembered for thirty days if its person chooses so, and until they end it', async () => {
  const person = newPerson();
  const arrive = async (body: object) => {
    const browser = visit();
    const token = await createPortalLink(audit, person);
    const answer = await browser.post('/sign-in', { token, ...body }, fromElsewhere());
    return { browser, cookie: answer.headers.get('set-cookie') };
  };
  const day = await arrive({ remember: false });
  const month = await arrive({ remember: true });
  expect(day.cookie).not.toContain('Max-Age');
  expect(month.cookie).toMatch(/SameSite=Strict; Max-Age=2592000$/);
  clock.advance(12 * 60 * minuteMs);
  expect(await current(day.browser)).toBeNull();
  clock.advance(29 * 24 * 60 * minuteMs);
  expect(await current(month.browser)).not.toBeNull();
  const another = await signIn(person);
  const { data } = (await another.get('/sessions')).json;
  expect(data).toMatchObject([{ is_remembered: false }, { is_remembered: true, is_this_one: false }]);
  await answers(200, another.post(`/sessions/${data[1].session_id}/end`));
  expect(await current(month.browser)).toBeNull();
  const last = await arrive({ remember: true });
  clock.advance(30 * 24 * 60 * minuteMs);
  expect(await current(last.browser)).toBeNull();
});

test('a session ends after the hours of the setting, by signing out, and from another session', async () => {
  const person = newPerson();
  const [long, out, far] = [await signIn(person), await signIn(person), await signIn(person)];
  await out.post('/logout');
  expect(await current(out)).toBeNull();
  const outsider = await signIn(newPerson());
  await answers(404, outsider.post(`/sessions/${far.sessionId}/end`));
  expect(await current(far)).not.toBeNull();
  expect((await long.get('/sessions')).json.data).toHaveLength(2);
  await answers(200, long.post(`/sessions/${far.sessionId}/end`));
  expect(await current(far)).toBeNull();
  // Without activity, too.
  clock.advance(12 * 60 * minuteMs - 1);
  expect(await current(long)).not.toBeNull();
  clock.advance(1);
  expect(await current(long)).toBeNull();
});

test('sessions of the console and of the portal are apart', async ({ one }) => {
  const token = one.cookie!.split('=')[1];
  const response = await fetch(`${address}/portal/api/session/current`, {
    headers: { cookie: `__Host-kopeck=${token}` },
  });
  expect(await response.json()).toMatchObject({ session: null });
});

test('one person has a rate of requests', async ({ one }) => {
  const statuses = [];
  for (let count = 0; count < 61; count++) statuses.push((await one.get('/sessions')).status);
  expect(statuses.at(-1)).toBe(429);
  clock.advance(1_000);
  await answers(200, one.get('/sessions'));
});

test('every answer has the security headers', async () => {
  const { headers } = await visit().get('/session/current');
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('cache-control')).toBe('no-store');
});
