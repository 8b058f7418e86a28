import { expect, test } from 'vitest';
import { approveLive, listKeys, revokeKey, setAllowedAddresses } from '../../src/partners/index.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { createBotWorld } from './setup.ts';

const { memberOf, pool, sql, telegram, audit, ownerOf } = await createBotWorld();
const { address } = await startApi({ pool });

test('a key with limits is created step by step', async () => {
  const { owner, partnerId } = await ownerOf('Limits');
  await owner.goes(
    ['🔑 Keys', /no active keys/],
    ['➕ Key with limits', /What may the key do/],
    ['🧪 Test: pay', /In how many days/],
  );
  for (const typed of ['soon', '0', '-1', '10000', '1.5']) {
    await owner.writes(typed, /not a number of days/);
  }
  await owner.writes('90', /How much may/);
  for (const typed of ['500', '500 1000 2000', 'five ten', '-1 5', '1.001 5']) {
    await owner.writes(typed, /not two amounts/);
  }
  await owner.writes('500 2000.50', /What is the key for/);
  await owner.writes('x'.repeat(129), /one line/);
  await owner.writes('Till <4>', /Which IP addresses/);
  const { text } = await owner.goes(['🌍 Any IP address', /svc_test_/]);
  const [key = ''] = /svc_test_[0-9a-f]{12}_[0-9a-f]{48}/.exec(text) ?? [];
  const [stored] = await listKeys(pool, partnerId);
  expect(stored).toMatchObject({
    label: 'Till <4>',
    rights: { scopes: ['pay'], maxKopecks: 50_000n, dailyKopecks: 200_050n },
  });
  expect(Math.round((stored!.expiresAt!.getTime() - stored!.createdAt.getTime()) / 86_400_000)).toBe(90);
  expect((await partnerAt(address, key).get('/v1/balance')).json.error.code).toBe('insufficient_scope');
  await owner.goes([
    `🧪 ${stored!.keyId}`,
    /Limit per payment: 500\.00 RUB\nLimit per day: 2,000\.50 RUB\nExpires/,
  ]);
});

test('a key that reads is asked for no limits, and every question can be skipped', async () => {
  const { owner, partnerId } = await ownerOf('Reader');
  await owner.goes(
    ['🔑 Keys', /no active keys/],
    ['➕ Key with limits', /What may the key do/],
    ['🧪 Test: read', /In how many days/],
    ['♾ Never', /What is the key for/],
    ['➖ No label', /Which IP addresses/],
  );
  await owner.writes('192.0.2.7', /svc_test_/);
  const expected = { label: null, expiresAt: null, allowedAddresses: ['192.0.2.7'] };
  expect(await listKeys(pool, partnerId)).toMatchObject([
    { ...expected, rights: { scopes: ['read'], maxKopecks: null } },
  ]);
});

test('a key is rolled: the new one is shown, the old one works until the chosen time', async () => {
  const { owner, partnerId } = await ownerOf('Roller');
  const key = await issueKey(pool, partnerId, 'test');
  const keyId = key.split('_')[2]!;
  const { text } = await owner.goes(
    ['🔑 Keys', /Active keys/],
    [`🧪 ${keyId}`, /Last used/],
    ['♻️ Roll', /How long should the old one stay valid/],
    ['24 hours', /The old key will expire in 24 hours/],
    ['♻️ Roll', /svc_test_/],
  );
  const [rolled = ''] = /svc_test_[0-9a-f]{12}_[0-9a-f]{48}/.exec(text) ?? [];
  for (const one of [key, rolled]) expect((await partnerAt(address, one).get('/v1/ping')).status).toBe(200);
  const [old] = (await listKeys(pool, partnerId)).filter(one => one.keyId === keyId);
  expect(old!.rolledTo).toBe(rolled.split('_')[2]);
  expect(Math.round((old!.expiresAt!.getTime() - Date.now()) / 60_000)).toBe(24 * 60);
  await owner.goes([`🧪 ${keyId}`, /Rolled: the new key is/]);
});

test('a new key that cannot be shown is revoked, and the old one stays as it was', async () => {
  const { owner, partnerId } = await ownerOf('Unlucky');
  const keyId = (await issueKey(pool, partnerId, 'test')).split('_')[2]!;
  await owner.goes(
    ['🔑 Keys', /Active keys/],
    [`🧪 ${keyId}`, /Last used/],
    ['♻️ Roll', /How long/],
    ['1 hour', /will expire in 1 hour/],
  );
  telegram.fail({ kind: 'disconnect' }, { method: 'editMessageText', chatId: owner.account.id, times: 4 });
  await owner.goes(['♻️ Roll', /Something went wrong on our side/]);
  const [old, unseen] = await listKeys(pool, partnerId);
  expect(old).toMatchObject({ keyId, rolledTo: null, expiresAt: null, revokedAt: null });
  expect(unseen).toMatchObject({ revokedAt: expect.any(Date) });
});

test('a developer can neither roll a live key nor create one with limits', async () => {
  const { partnerId } = await ownerOf('Owner only');
  await approveLive(audit, partnerId);
  const keyId = (await issueKey(pool, partnerId, 'live')).split('_')[2]!;
  const dan = await memberOf(partnerId, 'developer', 'Dan');
  const { message } = dan.screen();
  for (const data of [`ko:${partnerId.slice(4)}:${keyId}`, `kc:${partnerId.slice(4)}:live:read`]) {
    expect(await dan.forges(message, data)).toBe('Required role: owner.');
  }
  // Of another partner it finds no key.
  const other = await ownerOf('Envious');
  await other.owner.forgeCallback(other.owner.screen().message, `kw:${other.partnerId.slice(4)}:${keyId}:1`);
  await other.owner.reads(/no active keys/);
  expect(await listKeys(pool, partnerId)).toHaveLength(1);
});

test('the addresses of a key in use are changed at once and on record', async () => {
  const { owner, partnerId } = await ownerOf('Movers');
  const key = await issueKey(pool, partnerId, 'test');
  const keyId = key.split('_')[2]!;
  const ping = async () => (await partnerAt(address, key).get('/v1/ping')).status;
  expect(await ping()).toBe(200);
  await owner.goes(
    ['🔑 Keys', /Active keys/],
    [`🧪 ${keyId}`, /Allowed IP addresses: any/],
    ['✏️ Change IP addresses', /Type the full list/],
  );
  for (const typed of ['the office', '192.0.2.7/33', '192.0.2.7 '.repeat(21), ',', 'x'.repeat(4_096)]) {
    await owner.writes(typed, /not a list of 1 to 20 IP addresses/);
  }
  await owner.writes('192.0.2.7; 2001:db8::/32', /192\.0\.2\.7, 2001:db8::\/32/);
  await expect.poll(ping).toBe(403);
  await owner.goes(
    ['✏️ Change IP addresses', /Type the full list/],
    ['🌍 Any IP address', /Allowed IP addresses: any/],
  );
  await expect.poll(ping).toBe(200);
  const rows =
    await sql`SELECT actor, before->'allowedAddresses' AS before, after->'allowedAddresses' AS after
       FROM audit WHERE action = 'key.allow' AND subject = ${keyId} ORDER BY id`;
  const actor = `telegram:${owner.account.id}`;
  const some = ['192.0.2.7', '2001:db8::/32'];
  expect(rows).toEqual([
    { actor, before: [], after: some },
    { actor, before: some, after: [] },
  ]);
});

test('a developer changes those of test keys only, and nobody those of another partner', async () => {
  const { owner, partnerId } = await ownerOf('Careful');
  await approveLive(audit, partnerId);
  const idOf = (key: string) => key.split('_')[2]!;
  const live = idOf(await issueKey(pool, partnerId, 'live'));
  const test = idOf(await issueKey(pool, partnerId, 'test'));
  const dan = await memberOf(partnerId, 'developer', 'Dan');
  const { message } = dan.screen();
  const suffix = partnerId.slice(4);
  expect(await dan.forges(message, `ka:${suffix}:${live}`)).toBe('Required role: owner.');
  await dan.forgeCallback(message, `ka:${suffix}:${test}`);
  await dan.reads(/Type the full list/);
  await dan.writes('198.51.100.0/24', /Allowed IP addresses: 198\.51\.100\.0\/24/);
  await owner.reads(
    new RegExp(`Another team member changed the allowed IP addresses of the test key ${test}`),
  );

  const other = await ownerOf('Envious of keys');
  const foreign = `ka:${other.partnerId.slice(4)}:${live}`;
  await other.owner.forgeCallback(other.owner.screen().message, foreign);
  await other.owner.reads(/no active keys/);
});

test('a key with more addresses than fit in a message can still be opened', async () => {
  const { owner, partnerId } = await ownerOf('Many offices');
  const keyId = (await issueKey(pool, partnerId, 'test')).split('_')[2]!;
  const offices = Array.from({ length: 250 }, (_, n) => `2001:db8:aaaa:bbbb:cccc:dddd:eeee:${n}`);
  await setAllowedAddresses(audit, keyId, offices);
  await owner.goes(['🔑 Keys', /Active keys/], [`🧪 ${keyId}`, /Allowed IP addresses: 2001:db8:aaaa/]);
});

/** As if so many changes had been made today. */
const fill = (owner: string, count: number) =>
  pool.query(
    `INSERT INTO daily_changes (owner, day, count) VALUES ($1, date_trunc('day', now(), 'UTC'), $2)
     ON CONFLICT (owner) DO UPDATE SET count = excluded.count`,
    [owner, count],
  );

test('who reaches a maximum reads what to do', async () => {
  const { owner, partnerId } = await ownerOf('Collectors');
  for (let count = 0; count < 20; count++) await issueKey(pool, partnerId, 'test');
  const attempt = async (expected: RegExp) => {
    await owner.goes(['➕ Test key', /Which IP addresses/]);
    await owner.press('🌍 Any IP address');
    await owner.reads(expected);
  };
  await owner.goes(['🔑 Keys', /Active keys/]);
  await attempt(/20 active keys.*Revoke/);
  await owner.goes(['⬅️ Back', /Active keys/]);

  const [first] = await listKeys(pool, partnerId);
  await revokeKey(audit, first!.keyId);
  await fill(`keys ${partnerId} test`, 50);
  await attempt(/changed too often today/);
  await owner.goes(['⬅️ Back', /Active keys/]);

  await fill(`keys ${partnerId} test`, 0);
  await fill(`changes telegram:${owner.account.id}`, 300);
  await attempt(/too many changes today/);
  expect(await listKeys(pool, partnerId)).toHaveLength(20);
});
