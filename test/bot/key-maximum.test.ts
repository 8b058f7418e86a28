import { expect, test } from 'vitest';
import { listKeys, revokeKey } from '../../src/partners/index.ts';
import { issueKey } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });

/** As if so many changes had been made today. */
const fill = (owner: string, count: number) =>
  pool.query(
    `INSERT INTO daily_changes (owner, day, count) VALUES ($1, date_trunc('day', now(), 'UTC'), $2)
     ON CONFLICT (owner) DO UPDATE SET count = excluded.count`,
    [owner, count],
  );

test('who reaches a maximum reads what to do', async () => {
  const { owner, partnerId } = await ownerOf(world, pool, 'Collectors');
  for (let count = 0; count < 20; count++) await issueKey(pool, partnerId, 'test');
  const attempt = async (expected: RegExp) => {
    await owner.press('➕ Test key');
    await owner.reads(/Which IP addresses/);
    await owner.press('🌍 Any IP address');
    await owner.reads(expected);
  };
  await owner.press('🔑 Keys');
  await owner.reads(/Active keys/);
  await attempt(/20 active keys.*Revoke/);
  await owner.press('⬅️ Back');
  await owner.reads(/Active keys/);

  const [first] = await listKeys(pool, partnerId);
  await revokeKey(auditContextOf(pool), first!.keyId);
  await fill(`keys ${partnerId} test`, 50);
  await attempt(/changed too often today/);
  await owner.press('⬅️ Back');
  await owner.reads(/Active keys/);

  await fill(`keys ${partnerId} test`, 0);
  await fill(`changes telegram:${owner.account.id}`, 300);
  await attempt(/too many changes today/);
  expect(await listKeys(pool, partnerId)).toHaveLength(20);
});
