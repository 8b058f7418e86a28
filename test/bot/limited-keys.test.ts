import { expect, test } from 'vitest';
import { acceptInvitation, approveLive, invite, listKeys } from '../../src/partners/index.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });
const { address } = await startApi({ pool });
const audit = auditContextOf(pool);

test('a key with limits is created step by step', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Limits');
  await owner.goes(
    ['🔑 Keys', /no active keys/],
    ['➕ Key with limits', /What may the key do/],
    ['🧪 Test: pay', /In how many days/],
  );
  for (const typed of ['soon', '0', '-1', '10000', '1.5']) {
    await owner.send(typed);
    await owner.reads(/not a number of days/);
  }
  await owner.send('90');
  await owner.reads(/How much may/);
  for (const typed of ['500', '500 1000 2000', 'five ten', '-1 5', '1.001 5']) {
    await owner.send(typed);
    await owner.reads(/not two amounts/);
  }
  await owner.send('500 2000.50');
  await owner.reads(/What is the key for/);
  await owner.send('x'.repeat(129));
  await owner.reads(/one line/);
  await owner.send('Till <4>');
  await owner.reads(/Which IP addresses/);
  await owner.press('🌍 Any IP address');
  const { text } = await owner.reads(/svc_test_/);
  const [key = ''] = /svc_test_[0-9a-f]{12}_[0-9a-f]{48}/.exec(text) ?? [];
  const [stored] = await listKeys(pool, partnerId);
  expect(stored).toMatchObject({
    label: 'Till <4>',
    rights: { scopes: ['pay'], maxKopecks: 50_000n, dailyKopecks: 200_050n },
  });
  expect(Math.round((stored!.expiresAt!.getTime() - stored!.createdAt.getTime()) / 86_400_000)).toBe(90);
  expect((await partnerAt(address, key).get('/v1/balance')).json.error.code).toBe('insufficient_scope');
  await owner.press(`🧪 ${stored!.keyId}`);
  await owner.reads(/Limit per payment: 500\.00 RUB\nLimit per day: 2,000\.50 RUB\nExpires/);
});

test('a key that reads is asked for no limits, and every question can be skipped', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Reader');
  await owner.goes(
    ['🔑 Keys', /no active keys/],
    ['➕ Key with limits', /What may the key do/],
    ['🧪 Test: read', /In how many days/],
    ['♾ Never', /What is the key for/],
    ['➖ No label', /Which IP addresses/],
  );
  await owner.send('192.0.2.7');
  await owner.reads(/svc_test_/);
  const expected = { label: null, expiresAt: null, allowedAddresses: ['192.0.2.7'] };
  expect(await listKeys(pool, partnerId)).toMatchObject([
    { ...expected, rights: { scopes: ['read'], maxKopecks: null } },
  ]);
});

test('a key is rolled: the new one is shown, the old one works until the chosen time', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Roller');
  const key = await issueKey(pool, partnerId, 'test');
  const keyId = key.split('_')[2]!;
  await owner.press('🔑 Keys');
  await owner.reads(/Active keys/);
  await owner.press(`🧪 ${keyId}`);
  await owner.reads(/Last used/);
  await owner.goes(
    ['♻️ Roll', /How long should the old one stay valid/],
    ['24 hours', /The old key will expire in 24 hours/],
  );
  await owner.press('♻️ Roll');
  const { text } = await owner.reads(/svc_test_/);
  const [rolled = ''] = /svc_test_[0-9a-f]{12}_[0-9a-f]{48}/.exec(text) ?? [];
  for (const one of [key, rolled]) expect((await partnerAt(address, one).get('/v1/ping')).status).toBe(200);
  const [old] = (await listKeys(pool, partnerId)).filter(one => one.keyId === keyId);
  expect(old!.rolledTo).toBe(rolled.split('_')[2]);
  expect(Math.round((old!.expiresAt!.getTime() - Date.now()) / 60_000)).toBe(24 * 60);
  await owner.press(`🧪 ${keyId}`);
  await owner.reads(/Rolled: the new key is/);
});

test('a new key that cannot be shown is revoked, and the old one stays as it was', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Unlucky');
  const keyId = (await issueKey(pool, partnerId, 'test')).split('_')[2]!;
  await owner.press('🔑 Keys');
  await owner.reads(/Active keys/);
  await owner.press(`🧪 ${keyId}`);
  await owner.reads(/Last used/);
  await owner.goes(['♻️ Roll', /How long/], ['1 hour', /will expire in 1 hour/]);
  world.telegram.fail(
    { kind: 'disconnect' },
    { method: 'editMessageText', chatId: owner.account.id, times: 4 },
  );
  await owner.press('♻️ Roll');
  await owner.reads(/Something went wrong on our side/);
  const [old, unseen] = await listKeys(pool, partnerId);
  expect(old).toMatchObject({ keyId, rolledTo: null, expiresAt: null, revokedAt: null });
  expect(unseen).toMatchObject({ revokedAt: expect.any(Date) });
});

test('a developer can neither roll a live key nor create one with limits', async () => {
  const { partnerId } = await ownerOf(world, pool, 'Owner only');
  await approveLive(audit, partnerId);
  const keyId = (await issueKey(pool, partnerId, 'live')).split('_')[2]!;
  const dan = world.telegram.user({ firstName: 'Dan', languageCode: 'en' });
  const token = await invite(audit, partnerId, null, 'developer');
  await acceptInvitation(audit, token, { userId: BigInt(dan.account.id), name: 'Dan' });
  await dan.send('/menu');
  const { message } = await dan.reads(/Your role: developer/);
  for (const data of [`ko:${partnerId.slice(4)}:${keyId}`, `kc:${partnerId.slice(4)}:live:read`]) {
    const refused = await dan.forgeCallback(message, data);
    expect((await refused.answer()).text).toBe('Required role: owner or higher.');
  }
  // Of another partner it finds no key.
  const other = await ownerOf(world, pool, 'Envious');
  await other.owner.forgeCallback(other.owner.screen().message, `kw:${other.partnerId.slice(4)}:${keyId}:1`);
  await other.owner.reads(/no active keys/);
  expect(await listKeys(pool, partnerId)).toHaveLength(1);
});
