import { beforeAll, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { credit, findCredited, openStatement } from '../../src/ledger/index.ts';
import { newLink, setRate } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { createPast, createShopOfThePast, withoutRequestId } from './archive-world.ts';

const { pool } = await createDatabase();
const past = await createPast(pool);
const { clock, writer, archive, findings, pay, finish, rowsOf } = past;
const { shop, partnerId, requests, overMidnight, everything } = await createShopOfThePast(pool, past);
const before = await everything();

test('a month is refused until it has rested for 31 days', async () => {
  expect(await archive('2026-03')).toEqual({ outcome: 'not_closed', closedBefore: new Date('2026-02-01') });
  expect(await archive('2026-04')).toMatchObject({ outcome: 'not_closed' });
});

test('a dry run counts and changes nothing', async () => {
  const rows = await rowsOf(partnerId);
  expect(await archive('2026-02', { isDryRun: true })).toMatchObject({
    ...{ outcome: 'archived', payments: 0, events: 0, entries: 0 },
    months: [{ month: '2026-01', payments: 5, events: 5 }],
  });
  expect(await rowsOf(partnerId)).toEqual(rows);
});

describe('after January was archived', () => {
  beforeAll(async () => {
    // The grant, four test payments with hold and end, the credit, and the hold of the payment over midnight.
    expect(await archive('2026-02')).toMatchObject({
      outcome: 'archived',
      payments: 5,
      events: 5,
      entries: 11,
    });
  });

  test('its rows are in the archive, and the ledger is in order', async () => {
    expect(await rowsOf(partnerId)).toEqual({ live: [3, 3, 7], archived: [5, 5, 11] });
    expect(await findings()).toEqual([]);
    expect(await archive('2026-02')).toMatchObject({ payments: 0, events: 0, entries: 0, months: [] });
  });

  test('every answer is the same, byte for byte', async () => {
    expect(await everything()).toEqual(before);
  });

  test('a repeated request gets the same payment, and another request with its key a conflict', async () => {
    for (const { body, key, answer } of requests) {
      const replay = await shop.pay(body, key);
      expect(withoutRequestId(replay.text)).toBe(withoutRequestId(answer));
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      const other = await shop.pay({ qr_url: newLink(10_000) }, key);
      expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_conflict']);
    }
    expect(await rowsOf(partnerId)).toMatchObject({ live: [3, 3, 7] });
  });

  test('the key of an archived payment opens no other', async () => {
    const { idempotencyKey, paymentId } = overMidnight;
    expect(await writer.open(await past.opening(partnerId, { idempotencyKey }))).toMatchObject({
      verdict: 'known',
      paymentId,
    });
    expect(await finish(overMidnight)).toMatchObject({ changed: false, status: 'succeeded' });
  });

  test('a reference is credited once', async () => {
    const item = { partnerId, mode: 'live', reference: 'funding', microUsdt: 10n ** 12n } as const;
    expect(await credit(pool, clock, [item])).toMatchObject([{ outcome: 'already_credited' }]);
    expect(await credit(pool, clock, [{ ...item, microUsdt: 1n }])).toEqual([{ outcome: 'conflict' }]);
    expect(await findCredited(pool, item)).toBe(10n ** 12n);
  });

  test('a new payment is made as before', async () => {
    await pay(partnerId);
    expect(await findings()).toEqual([]);
  });

  test('when the month is dropped, its keys still pay nothing, and the ledger is in order', async () => {
    await past.dropMonth('2026-01');
    await setRate(pool, clock);
    const { body, key } = requests[0]!;
    const { status, json } = await shop.pay(body, key);
    expect([status, json.error.code]).toEqual([409, 'idempotency_conflict']);
    expect(await findings()).toEqual([]);
    const item = { partnerId, mode: 'live', reference: 'funding', microUsdt: 10n ** 12n } as const;
    expect(await credit(pool, clock, [item])).toMatchObject([{ outcome: 'already_credited' }]);
  });
});

test('what is unfinished or undelivered stays, and blocks only what it must', async () => {
  const world = await createPast(pool, '2025-05-10T10:00:00Z');
  const other = await world.newPartner();
  await world.pay(other);
  const unfinished = await world.open(other);
  await world.pay(other);
  await world.addEndpoint(other);
  await world.pay(other);
  world.at('2025-08-01T00:00:00Z');
  await world.archive('2025-06');
  // Entries go up to the hold of the unfinished payment: the grant is of the other mode, so credit, hold and settle.
  expect(await world.rowsOf(other)).toEqual({ live: [2, 1, 5], archived: [2, 2, 4] });
  expect(await world.findings()).toEqual([]);
  // Also if the caller asks for more, whom the role of the service may be.
  const { rows } = await pool.query("SELECT archive_entries($1, 'live', '2025-05-01', 1000, 100) AS moved", [
    uuidFromId(other),
  ]);
  expect(rows).toEqual([{ moved: 0n }]);

  await world.finish(unfinished);
  await pool.query('DELETE FROM deliveries WHERE partner_id = $1', [uuidFromId(other)]);
  await world.archive('2025-06');
  // The payment ended in August, so it rests, and so does its settle.
  expect(await world.rowsOf(other)).toEqual({ live: [1, 1, 1], archived: [3, 3, 9] });
  world.at('2025-10-10T00:00:00Z');
  await world.archive('2025-09');
  expect(await world.rowsOf(other)).toEqual({ live: [0, 0, 0], archived: [4, 4, 10] });
  expect(await world.findings()).toEqual([]);
});

test('a day of a month without entries, between archived ones, has those of before', async () => {
  const world = await createPast(pool, '2024-01-10T10:00:00Z');
  const quiet = await world.newPartner();
  await world.pay(quiet);
  world.at('2024-04-10T10:00:00Z');
  await world.pay(quiet);
  world.at('2024-08-01T00:00:00Z');
  await world.archive('2024-06');
  expect(await world.rowsOf(quiet)).toMatchObject({ live: [0, 0, 0] });
  const days = ['2024-01-09', '2024-01-10', '2024-02-29', '2024-04-10', '2024-04-11', '2024-07-01'];
  const numbers = days.map(async day => {
    const account = { partnerId: quiet, mode: 'live' } as const;
    const statement = await openStatement(pool, world.clock, account, new Date(day));
    return typeof statement === 'object' && [statement.entriesAbove, statement.entriesUpTo];
  });
  expect((await Promise.all(numbers)).join(' ')).toBe('0,0 0,3 3,3 3,5 5,5 5,5');
});
