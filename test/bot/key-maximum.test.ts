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

test.each([
  [
    'en',
    ['🔑 Keys', '➕ Test key', '🌍 Any IP address', '⬅️ Back'],
    [
      /Active keys/,
      /Which IP|IP addresses/,
      /20 active keys.*Revoke/,
      /changed too often today/,
      /too many changes today/,
    ],
  ],
  [
    'ru',
    ['🔑 Ключи', '➕ Тестовый ключ', '🌍 С любых IP-адресов', '⬅️ Назад'],
    [
      /Действующие ключи/,
      /IP-адресов/,
      /20 действующих ключей.*Отзовите/,
      /слишком часто/,
      /слишком много изменений/,
    ],
  ],
] as const)(
  'who reaches a maximum reads what to do, in %s',
  async (language, [keys, create, any, back], [list, asked, tooMany, tooOften, tooManyChanges]) => {
    const { owner, partnerId } = await ownerOf(world, pool, 'Collectors', language);
    for (let count = 0; count < 20; count++) await issueKey(pool, partnerId, 'test');
    const attempt = async (expected: RegExp) => {
      await owner.press(create);
      await owner.reads(asked);
      await owner.press(any);
      await owner.reads(expected);
    };
    await owner.press(keys);
    await owner.reads(list);
    await attempt(tooMany);
    await owner.press(back);
    await owner.reads(list);

    const [first] = await listKeys(pool, partnerId);
    await revokeKey(auditContextOf(pool), first!.keyId);
    await fill(`keys ${partnerId} test`, 50);
    await attempt(tooOften);
    await owner.press(back);
    await owner.reads(list);

    await fill(`keys ${partnerId} test`, 0);
    await fill(`changes telegram:${owner.account.id}`, 300);
    await attempt(tooManyChanges);
    expect(await listKeys(pool, partnerId)).toHaveLength(20);
  },
);
