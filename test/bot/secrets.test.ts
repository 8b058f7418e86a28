import { promises as dns } from 'node:dns';
import { afterEach, expect, test, vi } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { approveLive, listKeys, type MemberRole, removeMember } from '../../src/partners/index.ts';
import { createVault, findWebhook, readSecrets, setWebhook } from '../../src/webhooks/index.ts';
import { issueKey, keyring } from '../helpers/partners.ts';
import { startReceiver } from '../helpers/webhook-receiver.ts';
import type { PrivateUser } from '../telegram/user.ts';
import { createBotWorld } from './setup.ts';

const { pool, telegram, audit, ownerOf, memberOf, start, stop } = await createBotWorld();
const vault = createVault(keyring);

afterEach(() => {
  telegram.clearFaults();
  vi.restoreAllMocks();
});

/** A partner with an owner and one more member, who has its menu open. */
async function partnerWith(role: MemberRole, name: string) {
  const { owner, partnerId } = await ownerOf(name);
  const member = await memberOf(partnerId, role, `Member of ${name}`);
  const userId = BigInt(member.account.id);
  // The team gets a notice of the new member; a simulated failure of the test must not hit that message.
  const left = async () =>
    (
      await pool.query(
        `SELECT (SELECT count(*) FROM partner_notices WHERE partner_id = $1 AND sent_at IS NULL)::int
              + (SELECT count(*) FROM chat_jobs WHERE chat_id = $2 AND task->>'do' = 'notify')::int AS count`,
        [uuidFromId(partnerId), userId],
      )
    ).rows[0].count;
  await expect.poll(left).toBe(0);
  return { owner, member, partnerId, remove: () => removeMember(audit, partnerId, userId) };
}

async function askForTestKey(person: PrivateUser): Promise<void> {
  await person.goes(['🔑 Keys', /no active keys/], ['➕ Test key', /Which IP/]);
}

const secretOf = (partnerId: Id<'prt'>) => readSecrets(pool, vault, partnerId, Date.now());

test('a key is created only when there is a message to show it in', async () => {
  const { owner, partnerId } = await ownerOf('Unsent');
  await askForTestKey(owner);
  telegram.fail({ kind: 'disconnect' }, { method: 'sendMessage', chatId: owner.account.id, times: 4 });
  await owner.goes(['🌍 Any IP address', /Something went wrong on our side/]);
  expect(await listKeys(pool, partnerId)).toEqual([]);
});

test('a key that could not be shown is revoked', async () => {
  const { owner, partnerId } = await ownerOf('Unshown');
  await askForTestKey(owner);
  telegram.fail({ kind: 'disconnect' }, { method: 'editMessageText', chatId: owner.account.id, times: 4 });
  await owner.goes(['🌍 Any IP address', /One moment/]);
  await owner.reads(/Something went wrong on our side/);
  expect(await listKeys(pool, partnerId)).toEqual([expect.objectContaining({ revokedAt: expect.any(Date) })]);
  expect(owner.messages.filter(({ text }) => text.includes('svc_test_'))).toEqual([]);
});

test('a secret is rotated only when there is a message to show the new one in', async () => {
  const { owner, partnerId } = await ownerOf('Unrotated');
  await setWebhook(audit, vault, partnerId, 'https://receiver.example/hook');
  // A notice that is sent later would use up the failures.
  await owner.reads(/A webhook endpoint was added/);
  const before = await secretOf(partnerId);
  await owner.goes(['📬 Webhook', /receiver\.example/], ['♻️ Rotate secret', /Create a new secret/]);
  telegram.fail({ kind: 'disconnect' }, { method: 'sendMessage', chatId: owner.account.id, times: 4 });
  await owner.goes(['♻️ Rotate secret', /Something went wrong on our side/]);
  expect(await secretOf(partnerId)).toEqual(before);
});

test('a member removed while Telegram is slow gets neither key nor secret', async () => {
  const { member, partnerId, remove } = await partnerWith('developer', 'Keeper');
  await askForTestKey(member);
  telegram.fail(
    { kind: 'tooManyRequests', retryAfter: 8 },
    { method: 'sendMessage', chatId: member.account.id },
  );
  await member.press('🌍 Any IP address');
  await expect.poll(() => telegram.calls.some(({ status }) => status === 429)).toBe(true);
  await remove();
  await member.reads(/You are not a member/);
  expect(await listKeys(pool, partnerId)).toEqual([]);
});

test('a member removed during a webhook check neither re-enables the webhook nor gets the result', async () => {
  const { member, partnerId, remove } = await partnerWith('developer', 'Checker');
  const receiver = await startReceiver();
  const held = Promise.withResolvers<void>();
  receiver.answer(async response => {
    await held.promise;
    response.writeHead(204).end();
  });
  await setWebhook(audit, vault, partnerId, receiver.url);
  await pool.query('UPDATE endpoints SET suspended_at = now(), given_up = 3 WHERE url = $1', [receiver.url]);
  await member.goes(['📬 Webhook', /suspended/]);
  for (let n = 0; n < 3; n++) {
    expect(await member.presses('🧪 Check')).toBe('Checking…');
  }
  // However often it is pressed, one check runs.
  await expect.poll(() => receiver.received.length).toBe(1);
  await remove();
  held.resolve();
  await member.reads(/You are not a member/);
  expect((await findWebhook(pool, partnerId))!.state).toBe('suspended');
  expect(receiver.received).toHaveLength(5);
  expect(member.messages.filter(({ text }) => /Webhook check/.test(text))).toEqual([]);
});

test('a developer can neither revoke a live key nor confirm what an owner began', async () => {
  const { owner, member, partnerId } = await partnerWith('developer', 'Live');
  await approveLive(audit, partnerId);
  const keyId = (await issueKey(pool, partnerId, 'live')).split('_')[2]!;
  await member.goes(['🔑 Keys', /Active keys/], [`🟢 ${keyId}`, /Last used/]);
  expect(await member.presses('🗑 Revoke')).toBe('Required role: owner.');

  // An owner who became a developer between the question and the answer.
  await owner.writes('/menu', /Your role/);
  await owner.goes(
    ['🔑 Keys', /Active keys/],
    [`🟢 ${keyId}`, /Last used/],
    ['🗑 Revoke', /Revoke the live key/],
  );
  await pool.query(`UPDATE members SET role = 'developer' WHERE user_id = $1`, [owner.account.id]);
  const late = await owner.press('🗑 Revoke');
  await late.answer();
  expect((await listKeys(pool, partnerId)).map(({ revokedAt }) => revokedAt)).toEqual([null]);
});

test('a member removed during a DNS lookup does not set the address', async () => {
  await stop();
  start({ webhookAllowPrivate: false });
  const { member, partnerId, remove } = await partnerWith('developer', 'Looker');
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string[]>();
  vi.spyOn(dns.Resolver.prototype, 'resolve4').mockImplementation((async () => {
    asked.resolve();
    return answer.promise;
  }) as never);
  vi.spyOn(dns.Resolver.prototype, 'resolve6').mockResolvedValue([] as never);
  await member.goes(['📬 Webhook', /No webhook is set/], ['✏️ Set URL', /Type the URL/]);
  await member.send('https://receiver.example/hook');
  await asked.promise;
  await remove();
  answer.resolve(['93.184.216.34']);
  await member.reads(/You are not a member/);
  expect(await findWebhook(pool, partnerId)).toBeUndefined();
});
