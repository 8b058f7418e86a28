import { expect, test } from 'vitest';
import { acceptInvitation, approveLive, invite, listKeys } from '../../src/partners/index.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });
const { address } = await startApi({ pool });
const audit = auditContextOf(pool);

test.each([
  [
    'en',
    ['🔑 Keys', '➕ Key with limits', '🧪 Test: pay', '🌍 Any IP address'],
    [/What may the key do/, /In how many days/, /not a number of days/, /How much may/, /not two amounts/],
    [
      /What is the key for/,
      /one line/,
      /Which IP addresses/,
      /Limit per payment: 500\.00 RUB\nLimit per day: 2,000\.50 RUB\nExpires/,
    ],
  ],
  [
    'ru',
    ['🔑 Ключи', '➕ Ключ с ограничениями', '🧪 Тестовый: оплата', '🌍 С любых IP-адресов'],
    [
      /Что разрешить ключу/,
      /Через сколько дней/,
      /Нужно число дней/,
      /Сколько можно тратить/,
      /Нужны две суммы/,
    ],
    [
      /Для чего этот ключ/,
      /одна строка/,
      /С каких IP-адресов/,
      /Лимит на платёж: 500,00 ₽\nЛимит в день: 2\s000,50 ₽\nДействует до/,
    ],
  ],
] as const)(
  'a key with limits is created step by step, in %s',
  async (language, [keys, limited, testPay, any], [scope, days, noDays, limits, noLimits], [
    label,
    noLabel,
    from,
    details,
  ]) => {
    const { owner, partnerId } = await ownerOf(world, pool, 'Limits', language);
    await owner.press(keys);
    await owner.reads(/🔑|ключей|keys/);
    await owner.press(limited);
    await owner.reads(scope);
    await owner.press(testPay);
    await owner.reads(days);
    for (const typed of ['soon', '0', '-1', '10000', '1.5']) {
      await owner.send(typed);
      await owner.reads(noDays);
    }
    await owner.send('90');
    await owner.reads(limits);
    for (const typed of ['500', '500 1000 2000', 'five ten', '-1 5', '1.001 5']) {
      await owner.send(typed);
      await owner.reads(noLimits);
    }
    await owner.send('500 2000.50');
    await owner.reads(label);
    await owner.send('x'.repeat(129));
    await owner.reads(noLabel);
    await owner.send('Till <4>');
    await owner.reads(from);
    await owner.press(any);
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
    await owner.reads(details);
  },
);

test('a key that reads is asked for no limits, and every question can be skipped', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Reader');
  await owner.press('🔑 Keys');
  await owner.reads(/no active keys/);
  await owner.press('➕ Key with limits');
  await owner.reads(/What may the key do/);
  await owner.press('🧪 Test: read');
  await owner.reads(/In how many days/);
  await owner.press('♾ Never');
  await owner.reads(/What is the key for/);
  await owner.press('➖ No label');
  await owner.reads(/Which IP addresses/);
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
  await owner.press('♻️ Roll');
  await owner.reads(/How long should the old one stay valid/);
  await owner.press('24 hours');
  await owner.reads(/The old key will expire in 24 hours/);
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
  await owner.press('♻️ Roll');
  await owner.reads(/How long/);
  await owner.press('1 hour');
  await owner.reads(/will expire in 1 hour/);
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
