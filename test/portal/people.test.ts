import { test as base, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId } from '../../src/base/ids.ts';
import { changeRole, listKeys, removeMember } from '../../src/partners/index.ts';
import { addEndpoint, contractEvents, createVault, setWebhook } from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { answers } from '../helpers/console.ts';
import { createDatabase, keyring } from '../helpers/database.ts';
import { explaining } from '../helpers/plans.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';
import { sendSlowly } from '../helpers/slow-request.ts';

const { pool, sql } = await createDatabase();
const { address, audit, deps, member, signIn } = await startPortal({ pool });
const test = base
  .extend('partnerId', async () => (await createPartnerWithKeys(pool)).partnerId)
  .extend('owner', ({ partnerId }) => member(partnerId, 'owner'));

test('the team: an invitation, roles, removal, and the last owner stays', async ({ partnerId, owner }) => {
  const viewer = await member(partnerId, 'viewer');
  const invitation = (await owner.act('/team/invite', { role: 'developer' })).json;
  expect(invitation.url).toMatch(/^https:\/\/t\.me\/kopeck_bot\?start=inv_[\w-]{32}$/);
  const { userId } = viewer.person;
  await answers(200, owner.act(`/team/${userId}/role`, { role: 'developer' }));
  await answers(200, viewer.read('/keys'));
  await answers(403, viewer.act(`/team/${owner.person.userId}/remove`));
  for (const [path, body] of Object.entries({ remove: {}, role: { role: 'viewer' } }))
    await answers('409 last_owner', owner.act(`/team/${owner.person.userId}/${path}`, body));
  await answers(200, viewer.act(`/team/${userId}/remove`));
  expect((await owner.read('/team')).json.data).toMatchObject([{ is_you: true, role: 'owner' }]);
});

test('an invitation is accepted in the portal, once, however it was pasted', async ({ partnerId, owner }) => {
  const invitation = async () => (await owner.act('/team/invite', { role: 'developer' })).json;
  const one = await signIn(newPerson());
  const { url, command } = await invitation();
  const joined = await one.post('/join', { invitation: ` ${url}\n` });
  expect(joined.json).toMatchObject({
    partner_id: partnerId,
    session: { partners: [{ partner_id: partnerId, role: 'developer' }] },
  });
  const other = await signIn(newPerson());
  await answers('404 no_invitation', other.post('/join', { invitation: command }));
  await answers(200, other.post('/join', { invitation: (await invitation()).command }));
  for (const text of ['', 'inv_', 'x'.repeat(500), '../..'])
    await answers(404, one.post('/join', { invitation: text }));
});

test('a person creates a partner, and chooses notices and the language of the bot', async () => {
  const person = newPerson();
  await sql`INSERT INTO chat_users (user_id, language, created_at) VALUES (${person.userId}, 'en', ${new Date(systemClock.nowMs())})`;
  const browser = await signIn(person);
  await answers(400, browser.post('/new-partner', { name: ' ' }));
  const created = (await browser.post('/new-partner', { name: 'Second shop' })).json;
  expect(created.session.partners).toMatchObject([{ partner_id: created.partner_id, role: 'owner' }]);
  await browser.post('/notices', { muted: ['low'] });
  const { topics } = (await browser.get('/notices')).json;
  const muted = topics.filter((one: { is_muted: boolean }) => one.is_muted);
  expect(muted).toEqual([{ topic: 'low', is_muted: true }]);
  await answers(422, browser.post('/notices', { muted: ['security'] }));
  await answers(200, browser.post('/notices/language', { language: 'ru' }));
  expect((await browser.get('/notices')).json.language).toBe('ru');
  await answers(422, browser.post('/notices/language', { language: 'de' }));
  expect((await (await signIn(newPerson())).get('/notices')).json.language).toBeNull();
});

const newKey = { mode: 'test', scopes: ['read', 'pay'], allowed_addresses: [] };

test.each([
  ['is removed', 404, 'no_partner'],
  ['gets a lower role', 403, 'forbidden'],
  ['signs out', 401, 'signed_out'],
])('a member who %s while a request arrives changes nothing', async (what, status, code) => {
  const { partnerId } = await createPartnerWithKeys(pool);
  await member(partnerId, 'owner');
  const second = await member(partnerId, 'owner');
  const before = (await listKeys(pool, partnerId)).length;
  const finish = await sendSlowly(second, `${address}/portal/api/partners/${partnerId}/keys`, newKey);
  // The guard has let it in; now it is another's turn.
  await second.read('/keys');
  if (what === 'is removed') await removeMember(audit, partnerId, second.person.userId);
  else if (what === 'signs out') await second.post('/logout');
  else await changeRole(audit, partnerId, second.person.userId, 'viewer');
  expect(await finish()).toMatchObject({ status, json: { error: { code } } });
  expect(await listKeys(pool, partnerId)).toHaveLength(before);
});

test('a limit of nothing is refused, and makes no key without a limit', async ({ owner }) => {
  for (const limit of [{ max_day_rub: '0' }, { max_payment_rub: '0.00' }])
    await answers(400, owner.act('/keys', { ...newKey, ...limit }));
  const { status } = await owner.act('/keys', { ...newKey, max_day_rub: '0.01' });
  expect(status).toBe(200);
});

test('an event is sent again to the endpoint that is named, and to none if there are several', async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const vault = createVault(keyring);
  await setWebhook(audit, vault, partnerId, 'https://shop.example/one');
  const added = { mode: 'test' as const, url: 'https://shop.example/two', events: contractEvents };
  await addEndpoint(audit, vault, partnerId, added);
  await setRate(pool);
  await answers(200, partnerAt(address, testKey).pay({ qr_url: newLink(10_000) }));
  const { data } = (await owner.read('/deliveries?mode=test')).json;
  expect(data).toHaveLength(2);
  const [{ event_id, endpoint_id }] = data;
  const resend = (body?: object) => owner.act(`/deliveries/${event_id}/resend`, body);
  await answers('409 several_endpoints', resend());
  await answers(404, resend({ endpoint_id: 'none' }));
  await answers(404, owner.read(`/deliveries/${event_id}?endpoint_id=none`));
  await answers(200, resend({ endpoint_id }));
});

// Last, since the portal reads through what counts its searches from here on.
test('a payment is searched among those of the partner, however many partners there are', async () => {
  await sql`INSERT INTO partners (id, name, live_approved, created_at) SELECT uuidv7(), 'Shop', true, now() FROM generate_series(1, 300)`;
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const viewer = await member(partnerId, 'viewer');
  await setRate(pool);
  const paid = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) });
  const { db, searches } = explaining(pool);
  deps.pool.query = db.query as typeof pool.query;
  await answers(404, viewer.read(`/payments/${newId('pay', deps.clock)}`));
  // Live and archived ones, of two modes.
  expect(searches('payments')).toBeLessThanOrEqual(4);
  expect(await viewer.read(`/payments/${paid.json.id}`)).toMatchObject({
    status: 200,
    json: { payment: { payment_id: paid.json.id } },
  });
});
