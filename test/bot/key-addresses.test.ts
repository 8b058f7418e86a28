import { expect, test } from 'vitest';
import { acceptInvitation, approveLive, invite, setAllowedAddresses } from '../../src/partners/index.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });
const { address } = await startApi({ pool });
const audit = auditContextOf(pool);

test('the addresses of a key in use are changed at once and on record', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Movers');
  const key = await issueKey(pool, partnerId, 'test');
  const keyId = key.split('_')[2]!;
  const ping = async () => (await partnerAt(address, key).get('/v1/ping')).status;
  expect(await ping()).toBe(200);
  await owner.press('🔑 Keys');
  await owner.reads(/Active keys/);
  await owner.press(`🧪 ${keyId}`);
  await owner.reads(/Allowed IP addresses: any/);
  await owner.press('✏️ Change IP addresses');
  await owner.reads(/Type the full list/);
  for (const typed of ['the office', '192.0.2.7/33', '192.0.2.7 '.repeat(21), ',', 'x'.repeat(4_096)]) {
    await owner.send(typed);
    await owner.reads(/not a list of 1 to 20 IP addresses/);
  }
  await owner.send('192.0.2.7; 2001:db8::/32');
  await owner.reads(/192\.0\.2\.7, 2001:db8::\/32/);
  await expect.poll(ping).toBe(403);
  await owner.goes(
    ['✏️ Change IP addresses', /Type the full list/],
    ['🌍 Any IP address', /Allowed IP addresses: any/],
  );
  await expect.poll(ping).toBe(200);
  const { rows } = await pool.query(
    `SELECT actor, before->'allowedAddresses' AS before, after->'allowedAddresses' AS after
       FROM audit WHERE action = 'key.allow' AND subject = $1 ORDER BY id`,
    [keyId],
  );
  const actor = `telegram:${owner.account.id}`;
  const some = ['192.0.2.7', '2001:db8::/32'];
  expect(rows).toEqual([
    { actor, before: [], after: some },
    { actor, before: some, after: [] },
  ]);
});

test('a developer changes those of test keys only, and nobody those of another partner', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Careful');
  await approveLive(audit, partnerId);
  const idOf = (key: string) => key.split('_')[2]!;
  const live = idOf(await issueKey(pool, partnerId, 'live'));
  const test = idOf(await issueKey(pool, partnerId, 'test'));
  const dan = world.telegram.user({ firstName: 'Dan', languageCode: 'en' });
  const token = await invite(audit, partnerId, null, 'developer');
  await acceptInvitation(audit, token, { userId: BigInt(dan.account.id), name: 'Dan' });
  await dan.send('/menu');
  const { message } = await dan.reads(/Your role: developer/);
  const suffix = partnerId.slice(4);
  const refused = await dan.forgeCallback(message, `ka:${suffix}:${live}`);
  expect((await refused.answer()).text).toBe('Required role: owner or higher.');
  await dan.forgeCallback(message, `ka:${suffix}:${test}`);
  await dan.reads(/Type the full list/);
  await dan.send('198.51.100.0/24');
  await dan.reads(/Allowed IP addresses: 198\.51\.100\.0\/24/);
  await owner.reads(
    new RegExp(`Another team member changed the allowed IP addresses of the test key ${test}`),
  );

  const other = await ownerOf(world, pool, 'Envious of keys');
  const foreign = `ka:${other.partnerId.slice(4)}:${live}`;
  await other.owner.forgeCallback(other.owner.screen().message, foreign);
  await other.owner.reads(/no active keys/);
});

test('a key with more addresses than fit in a message can still be opened', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Many offices');
  const keyId = (await issueKey(pool, partnerId, 'test')).split('_')[2]!;
  const offices = Array.from({ length: 250 }, (_, n) => `2001:db8:aaaa:bbbb:cccc:dddd:eeee:${n}`);
  await setAllowedAddresses(audit, keyId, offices);
  await owner.press('🔑 Keys');
  await owner.reads(/Active keys/);
  await owner.press(`🧪 ${keyId}`);
  await owner.reads(/Allowed IP addresses: 2001:db8:aaaa/);
});
