import { beforeAll, describe, expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createDatabase } from '../helpers/database.ts';
import { attempt, findingsAfter } from '../helpers/rolled-back.ts';
import { createPast } from './archive-world.ts';

const { pool } = await createDatabase();
const past = await createPast(pool);
let partnerId: Id<'prt'>;

beforeAll(async () => {
  partnerId = await past.newPartner();
  for (let nth = 0; nth < 3; nth++) await past.pay(partnerId);
  past.at('2026-02-10T00:00:00Z');
  await past.pay(partnerId);
  past.at('2026-03-20T00:00:00Z');
});

const copies = {
  keys: 'INSERT INTO archived_keys SELECT idempotency_key, partner_id, mode, id FROM payments',
  payments: 'INSERT INTO payments_archive SELECT * FROM payments',
  events: 'INSERT INTO events_archive SELECT * FROM events',
  references: `INSERT INTO archived_references SELECT reference, partner_id, mode, micro_usdt FROM entries WHERE reference IS NOT NULL`,
  entries: 'INSERT INTO entries_archive SELECT * FROM entries',
};

describe('a row leaves a live table only if the same row is in the archive:', () => {
  beforeAll(async () => {
    await pool.query(`SELECT archive_prepare('2026-01-01'), archive_prepare('2026-02-01')`);
  });

  test('with all copies it may go', async () => {
    const deletions = ['payments', 'events', 'entries'].map(table => `DELETE FROM ${table}`);
    await attempt(pool, ...Object.values(copies), ...deletions);
  });

  test.each<[table: string, missing: keyof typeof copies]>([
    ['payments', 'payments'],
    ['payments', 'keys'],
    ['events', 'events'],
    ['entries', 'entries'],
    ['entries', 'references'],
  ])('%s without a copy of the %s', async (table, missing) => {
    const others = Object.entries(copies).flatMap(([name, copy]) => (name === missing ? [] : [copy]));
    await expect(attempt(pool, ...others, `DELETE FROM ${table}`)).rejects.toThrow(
      `DELETE of ${table} is refused`,
    );
  });

  test.each([
    ['payments', "SET recipient = 'another'", 'payments_archive'],
    ['payments', 'SET external_id = NULL, metadata = NULL', 'payments_archive'],
    ['payments', 'SET payment_id = partner_id', 'archived_keys'],
    ['events', "SET at = at + interval '1 second'", 'events_archive'],
    ['entries', 'SET to_after = to_after + 1 WHERE entry_no = 2', 'entries_archive'],
    ['entries', 'SET micro_usdt = micro_usdt + 1', 'archived_references'],
  ])('%s when the copy differs: %s of %s', async (table, change, archive) => {
    const tampering = [
      ...(change.includes('metadata') ? [`ALTER TABLE ${archive} ALTER metadata DROP NOT NULL`] : []),
      `ALTER TABLE ${archive} DISABLE TRIGGER USER`,
      `UPDATE ${archive} ${change}`,
      `DELETE FROM ${table}`,
    ];
    await expect(attempt(pool, ...Object.values(copies), ...tampering)).rejects.toThrow(
      `DELETE of ${table} is refused`,
    );
  });

  test.each(['payments', 'events', 'entries'])('%s are not truncated', async table => {
    await expect(attempt(pool, `TRUNCATE ${table}`)).rejects.toThrow(`TRUNCATE of ${table} is refused`);
  });
});

describe('after the archive was filled', () => {
  beforeAll(async () => {
    expect(await past.archive('2026-02')).toMatchObject({ payments: 3, events: 3, entries: 8 });
  });

  test.each([
    'UPDATE payments_archive SET recipient = $$x$$',
    'UPDATE payments_archive_2026_01 SET recipient = $$x$$',
    'DELETE FROM events_archive',
    'DELETE FROM entries_archive_2026_01',
    'TRUNCATE payments_archive',
    'TRUNCATE entries_archive_2026_01',
    'DELETE FROM archived_keys',
    'UPDATE archived_references SET micro_usdt = 1',
  ])('it is append-only: %s', async statement => {
    await expect(attempt(pool, statement)).rejects.toThrow('is refused');
  });

  const month = 'each archived month is as it was archived';
  const twice = 'nothing is both live and archived';
  const kept = 'every archived payment has its key, and every archived credit its reference';
  test.each([
    ['payments_archive', "UPDATE payments_archive SET recipient = 'another'", [month]],
    [
      'payments_archive',
      'DELETE FROM payments_archive WHERE id = (SELECT min(id::text)::uuid FROM payments_archive)',
      [month],
    ],
    ['events_archive', 'UPDATE events_archive SET id = id + 1000 WHERE id = 1', [month]],
    ['events_archive', 'DELETE FROM events_archive WHERE id = 1', [month]],
    [
      'events_archive',
      'INSERT INTO events_archive SELECT partner_id, mode, 99, payment_id, at FROM events_archive LIMIT 1',
      [month],
    ],
    [
      'entries_archive',
      "UPDATE entries_archive SET reference = 'another' WHERE mode = 'live' AND reference IS NOT NULL",
      [month, kept],
    ],
    ['archived_keys', 'DELETE FROM archived_keys', [kept]],
    ['archived_references', "DELETE FROM archived_references WHERE mode = 'live'", [kept]],
    ['payments', `INSERT INTO payments SELECT * FROM payments_archive LIMIT 1`, [twice]],
    [
      'payments',
      `INSERT INTO payments SELECT * FROM jsonb_populate_record((SELECT a FROM payments_archive a LIMIT 1)::text::payments, '{"id": "${uuidFromId('pay_7zzzzzzzzzzzzzzzzzzzzzzzzz')}"}')`,
      [twice],
    ],
    [
      'entries',
      `INSERT INTO entries SELECT * FROM entries_archive WHERE mode = 'live' AND entry_no = 7`,
      ['entries add up to the balances'],
    ],
    ['archived_months', 'DROP TABLE payments_archive_2026_01', [month]],
  ])('tampering with %s is found: %s', async (table, tampering, expected) => {
    const unguarded = table === 'archived_months' ? [] : [`ALTER TABLE ${table} DISABLE TRIGGER USER`];
    const findings = await findingsAfter(pool, [...unguarded, tampering]);
    const broken = new Set(findings.map(({ invariant }) => invariant));
    expect([...broken].filter(invariant => (expected as string[]).includes(invariant))).toEqual(expected);
    expect(findings.every(finding => finding.partnerId === partnerId)).toBe(true);
  });

  test('without tampering nothing is found', async () => {
    expect(await past.findings()).toEqual([]);
  });
});
