import { expect, test } from 'vitest';
import { invite, removeMember } from '../../src/partners/index.ts';
import { newLink } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import type { PrivateUser } from '../telegram/user.ts';
import { createBotWorld } from './setup.ts';

const clock = manualClock(new Date().toISOString());
const { pool, sql, telegram, audit, ownerOf, logged, start, stop } = await createBotWorld({ clock });

const countKeys = async (partner: string) => {
  const rows =
    await sql`SELECT count(*)::int AS keys FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE p.name = ${partner}`;
  return rows[0].keys;
};

/** A new user joins by the owner's invitation link. */
async function bring(owner: PrivateUser, role: string, firstName: string): Promise<PrivateUser> {
  await owner.writes('/menu', /Your role/);
  const { text } = await owner.goes(
    ['👥 Team', /Members/],
    [`➕ Invite: ${role}`, /for one person, valid for 24 hours/],
  );
  const newcomer = telegram.user({ firstName, languageCode: 'en' });
  await newcomer.writes(`/start ${/start=(\S+)/.exec(text)![1]}`, /Welcome to/);
  await newcomer.reads(new RegExp(`Your role: ${role}`));
  return newcomer;
}

test('a callback query of an outsider does nothing, in any chat and with any data', async () => {
  const { owner, partnerId } = await ownerOf('Castle');
  const { message } = await owner.goes(['🔑 Keys', /no active keys/]);
  const asked = await owner.goes(['➕ Test key', /Which IP addresses/]);
  const outsider = telegram.user({ firstName: 'Mallory', languageCode: 'en' });
  const own = await outsider.writes('/start', /Choose/);
  const suffix = partnerId.slice(4);

  expect(await outsider.forges(message, `kn:${suffix}:test`)).toBe('This button is not for you.');
  for (const data of [`k:${suffix}`, `wk:${suffix}`, `ti:${suffix}:owner`, `h:${suffix}`]) {
    expect(await outsider.forges(own.message, data)).toBe("You are not a member of this partner's team.");
  }
  const nonce = asked.message.keyboard.flat().find(button => 'callback_data' in button)!;
  for (const data of [
    (nonce as { callback_data: string }).callback_data,
    'ok:',
    'nonsense',
    '__proto__:x',
    '',
  ]) {
    const press = await outsider.forgeCallback(own.message, data || ':');
    await press.answer();
  }
  expect(await countKeys('Castle')).toBe(0);
  await owner.goes(['🌍 Any IP address', /svc_test_/]);
  expect(await countKeys('Castle')).toBe(1);
});

test('an invitation admits one person; roles are enforced; a removed member loses access at once', async () => {
  const { owner, partnerId } = await ownerOf('Team');
  const viewer = await bring(owner, 'viewer', 'Vera');
  await owner.reads(/Vera joined the team as viewer/);
  expect(viewer.screen().buttons.flat()).not.toContain('🔑 Keys');
  expect(await viewer.forges(viewer.screen().message, `kn:${partnerId.slice(4)}:test`)).toBe(
    'Required role: developer or owner.',
  );

  const developer = await bring(owner, 'developer', 'Dan');
  const used = /start=(\S+)/.exec(owner.messages.findLast(({ text }) => text.includes('start='))!.text)![1];
  const late = telegram.user({ firstName: 'Late', languageCode: 'en' });
  await late.writes(`/start ${used}`, /was already used, has expired or does not exist/);
  await late.writes('/start inv_nonsense', /was already used, has expired or does not exist/);

  await developer.goes(['🔑 Keys', /no active keys/]);
  expect(await developer.presses('➕ Live key')).toBe('Required role: owner.');
  const { message } = await developer.goes(['➕ Test key', /Which IP addresses/]);

  await owner.writes('/menu', /Your role/);
  await owner.goes(
    ['👥 Team', /Dan, developer/],
    ['🗑 Remove Dan', /lose access immediately/],
    ['🗑 Remove Dan', screen => /Members/.test(screen.text) && !screen.text.includes('Dan')],
  );

  const press = await developer.pressOn(message, '🌍 Any IP address');
  expect((await press.answer()).text).toBe("You are not a member of this partner's team.");
  expect(await countKeys('Team')).toBe(0);
  await developer.writes('192.0.2.1', /Sign up and make/);
  expect(await countKeys('Team')).toBe(0);

  await owner.goes(['🚪 Leave', /Leave Team/]);
  expect(await owner.presses('🚪 Leave')).toMatch(/needs an owner/);
});

test('an accountant reads no QR code and has no keys; a payer reads codes', async () => {
  const { owner } = await ownerOf('Books');
  const accountant = await bring(owner, 'accountant', 'Anna');
  expect(accountant.screen().buttons.flat()).not.toContain('🔑 Keys');
  await accountant.writes(newLink(10_000), /Required role: viewer, payer, developer or owner\./);
  const payer = await bring(owner, 'payer', 'Pavel');
  expect(payer.screen().buttons.flat()).not.toContain('🔑 Keys');
  await payer.writes(newLink(10_000), /100\.00/);
});

test('an invitation expires after a day, and when its creator is no longer an owner', async () => {
  const { owner, partnerId } = await ownerOf('Expiry');
  const second = await bring(owner, 'owner', 'Olga');
  const ofRemoved = await invite(audit, partnerId, BigInt(second.account.id), 'owner');
  const old = await invite(audit, partnerId, BigInt(owner.account.id), 'owner');
  await removeMember(audit, partnerId, BigInt(second.account.id));
  clock.advance(24 * 3_600_000);
  const guest = telegram.user({ firstName: 'Guest', languageCode: 'en' });
  for (const token of [ofRemoved, old]) {
    await guest.writes(`/start inv_${token}`, /was already used, has expired or does not exist/);
  }
});

test('a conversation survives a restart; a forwarded message is not accepted', async () => {
  const { owner } = await ownerOf('Phoenix');
  await owner.goes(
    ['💰 Balance', /Low-balance alert: off/],
    ['🪫 Low-balance alert', /At what live balance/],
  );
  await stop();
  const outsider = telegram.user({ firstName: 'Mallory' });
  await owner.sendForwarded('1', outsider.account);
  await owner.send('77');
  start();
  await owner.reads(/Forwarded messages are not accepted/);
  await owner.reads(/below 77\.000000 USDT/);
});

test('a secret is deleted after a minute, also when the bot was restarted in between', async () => {
  const { owner } = await ownerOf('Secrets');
  const { message, text } = await owner.goes(
    ['🔑 Keys', /no active keys/],
    ['➕ Test key', /Which IP/],
    ['🌍 Any IP address', /svc_test_/],
  );
  const secret = /svc_test_\w+/.exec(text)![0];
  await stop();
  clock.advance(59_000);
  start();
  await owner.writes('/menu', /Your role/);
  expect(message.isDeleted).toBe(false);
  clock.advance(1_000);
  await expect.poll(() => message.isDeleted).toBe(true);

  const tables = ['chat_jobs', 'chat_users', 'partner_notices', 'audit', 'api_keys'];
  for (const table of tables) {
    const { rows } = await pool.query(`SELECT count(*)::int AS found FROM ${table} t WHERE t::text LIKE $1`, [
      `%${secret.slice(-40)}%`,
    ]);
    expect([table, rows[0].found]).toEqual([table, 0]);
  }
  expect(logged.join('\n')).not.toContain(secret);
  const buttons = telegram.calls.map(({ values }) => JSON.stringify(values.reply_markup ?? ''));
  expect(buttons.filter(text => /svc_|whsec_|inv_/.test(text))).toEqual([]);
});

test('a throttled user gets one message, and others are not delayed', async () => {
  const { owner } = await ownerOf('Throttle');
  const hasty = telegram.user({ firstName: 'Hasty', languageCode: 'en' });
  for (let n = 0; n < 80; n++) await hasty.send('/menu');
  await hasty.reads(/Too many requests/);
  await owner.goes(['💰 Balance', /Amount per payment/]);
  await expect.poll(() => telegram.pendingUpdates()).toBe(0);
  expect(hasty.messages.filter(({ text }) => /Too many requests/.test(text))).toHaveLength(1);
  expect(hasty.messages.filter(({ from }) => from.is_bot)).toHaveLength(31);
  clock.advance(5_000);
  await hasty.writes('/menu', /Sign up/);
});
