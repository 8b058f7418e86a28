import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createPartnerWithKeys } from '../helpers/api.ts';
import { refusal } from '../helpers/console.ts';
import { createDatabase } from '../helpers/database.ts';
import { newPerson, startPortal } from '../helpers/portal.ts';

const { pool } = await createDatabase();
const { member, signIn } = await startPortal({ pool });

test('the team: an invitation, roles, removal, and the last owner stays', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const viewer = await member(partnerId, 'viewer');
  const invitation = (await owner.act('/team/invite', { role: 'developer' })).json;
  expect(invitation.url).toMatch(/^https:\/\/t\.me\/kopeck_bot\?start=inv_[\w-]{32}$/);
  const { userId } = viewer.person;
  expect((await owner.act(`/team/${userId}/role`, { role: 'developer' })).status).toBe(200);
  expect((await viewer.read('/keys')).status).toBe(200);
  expect((await viewer.act(`/team/${owner.person.userId}/remove`)).status).toBe(403);
  for (const path of ['remove', 'role'])
    expect(
      await owner.act(`/team/${owner.person.userId}/${path}`, path === 'role' ? { role: 'viewer' } : {}),
    ).toMatchObject(refusal(409, 'last_owner'));
  expect((await viewer.act(`/team/${userId}/remove`)).status).toBe(200);
  expect((await owner.read('/team')).json.data).toMatchObject([{ is_you: true, role: 'owner' }]);
});

test('an invitation is accepted in the portal, once, however it was pasted', async () => {
  const { partnerId } = await createPartnerWithKeys(pool);
  const owner = await member(partnerId, 'owner');
  const invitation = async () => (await owner.act('/team/invite', { role: 'developer' })).json;
  const one = await signIn(newPerson());
  const { url, command } = await invitation();
  const joined = await one.post('/join', { invitation: ` ${url}\n` });
  expect(joined.json).toMatchObject({
    partner_id: partnerId,
    session: { partners: [{ partner_id: partnerId, role: 'developer' }] },
  });
  const other = await signIn(newPerson());
  expect(await other.post('/join', { invitation: command })).toMatchObject(refusal(404, 'no_invitation'));
  expect((await other.post('/join', { invitation: (await invitation()).command })).status).toBe(200);
  for (const text of ['', 'inv_', 'x'.repeat(500), '../..'])
    expect((await one.post('/join', { invitation: text })).status).toBe(404);
});

test('a person creates a partner, and chooses notices and the language of the bot', async () => {
  const person = newPerson();
  await pool.query(`INSERT INTO chat_users (user_id, language, created_at) VALUES ($1, 'en', $2)`, [
    person.userId,
    new Date(systemClock.nowMs()),
  ]);
  const browser = await signIn(person);
  expect((await browser.post('/new-partner', { name: ' ' })).status).toBe(400);
  const created = (await browser.post('/new-partner', { name: 'Second shop' })).json;
  expect(created.session.partners).toMatchObject([{ partner_id: created.partner_id, role: 'owner' }]);
  await browser.post('/notices', { muted: ['low'] });
  const { topics } = (await browser.get('/notices')).json;
  expect(topics.filter((one: { is_muted: boolean }) => one.is_muted)).toEqual([
    { topic: 'low', is_muted: true },
  ]);
  expect((await browser.post('/notices', { muted: ['security'] })).status).toBe(422);
  expect((await browser.post('/notices/language', { language: 'ru' })).status).toBe(200);
  expect((await browser.get('/notices')).json.language).toBe('ru');
  expect((await browser.post('/notices/language', { language: 'de' })).status).toBe(422);
  expect((await (await signIn(newPerson())).get('/notices')).json.language).toBeNull();
});
