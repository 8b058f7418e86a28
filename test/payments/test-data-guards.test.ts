import { beforeAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/db/postgres/pool.ts';
import { pruneTestData } from '../../src/payments/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { attempt, findingsAfter } from '../helpers/rolled-back.ts';
import { createPast } from './archive-world.ts';

const { pool } = await createDatabase();
const past = await createPast(pool);
const inTest = { mode: 'test' } as const;

// Live and test rows of January, archived, and of February; the checkpoint is at the end of January, after seven of the test
// entries (the grant, two payments, and two holds), of which the two holds are left.
beforeAll(async () => {
  const partnerId = await past.newPartner();
  for (const mode of ['live', 'test', 'live', 'test'] as const) await past.pay(partnerId, { mode });
  past.at('2026-01-31T23:00:00Z');
  await past.open(partnerId, inTest);
  const overMidnight = await past.open(partnerId, inTest);
  past.at('2026-02-01T01:00:00Z');
  await past.finish(overMidnight);
  for (const mode of ['live', 'test'] as const) await past.pay(partnerId, { mode });
  past.at('2026-05-02T00:00:00Z');
  await past.archive('2026-02');
  expect(await pruneTestData(pool, past.clock, { keptDays: 90 })).toBe(2);
  const { rows } = await pool.query('SELECT entry_no, held FROM test_checkpoints');
  expect(rows).toEqual([{ entry_no: 7n, held: 2n * 1_621_622n }]);
});

describe('only test rows up to the checkpoint leave:', () => {
  test.each([
    ['a live entry with a number up to the checkpoint', "entries WHERE mode = 'live' AND entry_no <= 7"],
    ['a test entry after it', "entries WHERE mode = 'test' AND entry_no = 8"],
    ['a hold that was open at it', "entries WHERE mode = 'test' AND entry_no = 6"],
    ['a live payment', "payments WHERE mode = 'live'"],
    ['a test payment that ended after it', "payments WHERE mode = 'test' AND status <> 'processing'"],
    ['an unfinished test payment', "payments WHERE status = 'processing'"],
    ['a live event', "events WHERE mode = 'live'"],
    ['a test event after it', "events WHERE mode = 'test'"],
    ['an archived live entry', "entries_archive WHERE mode = 'live'"],
    ['an archived live payment', "payments_archive WHERE mode = 'live'"],
    ['an archived live event', "events_archive WHERE mode = 'live'"],
    ['the key of an archived live payment', "archived_keys WHERE mode = 'live'"],
    ['the reference of an archived live credit', "archived_references WHERE mode = 'live'"],
    ['a checkpoint', 'test_checkpoints'],
  ])('not %s', async (_what, rows) => {
    const { rows: found } = await pool.query(`SELECT count(*)::int AS count FROM ${rows}`);
    expect(found[0].count).toBeGreaterThan(0);
    await expect(attempt(pool, `DELETE FROM ${rows}`)).rejects.toThrow('is refused');
  });

  test('not an archived test row after it', async () => {
    const copy =
      "INSERT INTO payments_archive SELECT * FROM payments WHERE mode = 'test' AND status <> 'processing'";
    const key =
      "INSERT INTO archived_keys SELECT id::text, partner_id, mode, id FROM payments WHERE mode = 'test'";
    const prepare = "SELECT archive_prepare('2026-02-01')";
    const remove = (table: string) => `DELETE FROM ${table} WHERE mode = 'test'`;
    await expect(attempt(pool, prepare, copy, remove('payments_archive'))).rejects.toThrow('is refused');
    await expect(attempt(pool, key, remove('archived_keys'))).rejects.toThrow('is refused');
    const entry = "INSERT INTO entries_archive SELECT * FROM entries WHERE mode = 'test' AND entry_no = 8";
    await expect(attempt(pool, prepare, entry, remove('entries_archive'))).rejects.toThrow('is refused');
  });
});

describe('a checkpoint follows the entries:', () => {
  test.each([
    ['it does not go back', 'UPDATE test_checkpoints SET entry_no = entry_no - 1'],
    [
      'its balances are not set by hand',
      'UPDATE test_checkpoints SET available = available + 1, topup = topup - 1',
    ],
    ['it is not beyond the last entry', 'UPDATE test_checkpoints SET entry_no = entry_no + 100'],
    ['it is not truncated', 'TRUNCATE test_checkpoints'],
  ])('%s', async (_what, statement) => {
    await expect(attempt(pool, statement)).rejects.toThrow(/is refused|forward only|not in order/);
  });

  test('it gets its balances from them, whatever the caller writes', async () => {
    const undo = new Error('undo');
    const updating = transaction(pool, async tx => {
      const { rows } = await tx.query({
        text: 'UPDATE test_checkpoints SET entry_no = 8, available = 5, held = 0 RETURNING held, settled',
      });
      expect(rows).toEqual([{ held: 1_621_622n, settled: 3n * 1_621_622n }]);
      throw undo;
    });
    await expect(updating).rejects.toBe(undo);
  });

  test.each([
    ['an amount was changed', 'UPDATE entries SET micro_usdt = micro_usdt + 1'],
    ['a balance was changed', 'UPDATE entries SET to_after = to_after + 1'],
    ['an entry is missing', 'DELETE FROM entries'],
  ])('it does not pass a fault: %s', async (_what, change) => {
    const tampering = [
      'ALTER TABLE entries DISABLE TRIGGER USER',
      `${change} WHERE mode = 'test' AND entry_no = 8`,
      "SELECT prune_test_data(partner_id, '2026-05-01', 500) FROM test_checkpoints",
    ];
    await expect(attempt(pool, ...tampering)).rejects.toThrow('are not in order');
  });
});

describe('verification finds', () => {
  const left = 'up to a checkpoint only its open holds are left';
  const sums = 'entries add up to the balances';
  const gaps = 'entries are numbered without gaps';
  test.each([
    [
      'a checkpoint that was changed',
      'UPDATE test_checkpoints SET available = available + 1, topup = topup - 1',
      [sums],
    ],
    ['a checkpoint that was removed', 'DELETE FROM test_checkpoints', [sums, gaps]],
    [
      'a checkpoint with a later time',
      "UPDATE test_checkpoints SET at = '2026-03-01'",
      ['times never go back'],
    ],
    ['a hold that was removed', "DELETE FROM entries WHERE mode = 'test' AND entry_no = 6", [left]],
    [
      'an entry that was left',
      `INSERT INTO entries SELECT partner_id, mode, 1, 'treasury', 'available', 1, -1, 1, NULL, 'r', created_at
         FROM entries WHERE mode = 'test' AND entry_no = 6`,
      [left],
    ],
    [
      'a payment that was left',
      `INSERT INTO payments SELECT * FROM jsonb_populate_record(
         (SELECT p FROM payments p WHERE mode = 'test' AND status = 'succeeded'),
         '{"id": "019bdad8-cd00-7000-b154-c16bc28f4290", "idempotency_key": "k"}')`,
      [left],
    ],
  ])('%s', async (_what, tampering, expected) => {
    const tables = ['entries', 'payments', 'test_checkpoints'];
    const unguarded = tables.map(table => `ALTER TABLE ${table} DISABLE TRIGGER USER`);
    const findings = await findingsAfter(pool, [...unguarded, tampering]);
    const broken = findings.map(({ invariant }) => invariant);
    expect(broken).toEqual(expect.arrayContaining(expected as string[]));
  });

  test('nothing without tampering', async () => {
    expect(await past.findings()).toEqual([]);
  });
});
