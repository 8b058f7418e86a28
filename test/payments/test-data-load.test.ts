import { test as base, expect, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../src/base/ids.ts';
import { sqlStateOf } from '../../src/db/postgres/database-errors.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { createPaymentSignals, pruneTestData, refundTestPayment } from '../../src/payments/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { resendEvent } from '../../src/webhooks/index.ts';
import { auditContextOf, createDatabase, patient } from '../helpers/database.ts';
import { follow, holdLocks } from '../helpers/locks.ts';
import { openingsOf } from '../helpers/openings.ts';
import { createPast, maintainInProcess } from './archive-world.ts';

const { pool, url } = await createDatabase();
const past = await createPast(pool, '2025-01-10T00:00:00Z');
const oldPayments = 60;
const options = { keptDays: 90, batchSize: 20 };

async function newShop(): Promise<Id<'prt'>> {
  const partnerId = await past.newPartner();
  const pay = (mode: 'live' | 'test') => past.pay(partnerId, { mode, microUsdt: 1_000_000n });
  await Promise.all(Array.from({ length: oldPayments }, () => Promise.all([pay('live'), pay('test')])));
  return partnerId;
}

const count = async (what: string, partnerId: Id<'prt'>) => {
  const { rows } = await pool.query(`SELECT count(*)::int AS count FROM ${what} AND partner_id = $1`, [
    uuidFromId(partnerId),
  ]);
  return rows[0].count as number;
};
const testPayments = (partnerId: Id<'prt'>) => count("payments WHERE mode = 'test'", partnerId);
const livePayments = (partnerId: Id<'prt'>) => count("payments WHERE mode = 'live'", partnerId);

/** Test payments of the same account go on until it is over. */
async function load(partnerId: Id<'prt'>, isOver: () => boolean): Promise<number> {
  const writer = createPaymentWriter(pool, systemClock);
  const opening = await openingsOf(pool, systemClock);
  let paid = 0;
  while (!isOver()) {
    const payment = opening(partnerId, { mode: 'test', microUsdt: 1_000n });
    expect((await writer.open(payment)).verdict).toBe('opened');
    const { mode, paymentId } = payment;
    const end = { partnerId, mode, paymentId, outcome: 'succeeded' } as const;
    expect(await writer.finish(end)).toMatchObject({ changed: true });
    paid++;
  }
  return paid;
}
const test = base.extend('partnerId', () => newShop());

test('killed twice while payments of the account go on, it deletes only old test payments, and continues', async () => {
  const partnerId = await newShop();
  let isOver = false;
  const paying = load(partnerId, () => isOver);
  try {
    for (const batches of [1, 2]) {
      expect(await maintainInProcess('prune', url, batches)).toBe('');
      expect(await past.findings()).toEqual([]);
    }
    // Three batches of 20 entries.
    expect(await count('test_checkpoints WHERE entry_no = 60', partnerId)).toBe(1);
    expect(await maintainInProcess('prune', url)).toBe('done');
  } finally {
    isOver = true;
  }
  const paid = await paying;
  expect(paid).toBeGreaterThan(0);
  expect([await testPayments(partnerId), await livePayments(partnerId)]).toEqual([paid, oldPayments]);
  expect(await past.findings()).toEqual([]);
  const { test: balances } = await readBalances(pool, partnerId);
  expect(balances.settledMicroUsdt).toBe(BigInt(oldPayments) * 1_000_000n + BigInt(paid) * 1_000n);
});

test('a batch whose session ends in its middle leaves nothing behind', async ({ partnerId }) => {
  const uuid = uuidFromId(partnerId);
  // Entries go last, so the batch has done all the rest when it waits for this one.
  const lock = "SELECT FROM entries WHERE partner_id = $1 AND mode = 'test' AND entry_no = 1 FOR UPDATE";
  const { unlock } = await holdLocks(url, lock, [uuid]);
  const pruning = pruneTestData(pool, systemClock, options).catch(error => error);
  await vi.waitFor(async () => {
    const { rowCount } = await pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%prune_test_data($1%' AND datname = current_database()`,
    );
    expect(rowCount).toBe(1);
  }, 60_000);
  expect(await pruning).toBeInstanceOf(Error);
  expect(await testPayments(partnerId)).toBe(oldPayments);
  expect(await count('test_checkpoints WHERE true', partnerId)).toBe(0);
  expect(await past.findings()).toEqual([]);
  await unlock();
  expect(await pruneTestData(pool, systemClock, options)).toBe(oldPayments);
  expect(await past.findings()).toEqual([]);
});

test('two workers at once delete each payment once, and one of them at a time', async ({ partnerId }) => {
  const pools = [1, 2].map(() => openPool({ connectionString: url, ...patient }));
  let pruned = 0;
  const onBatch = (payments: number) => {
    pruned += payments;
  };
  // The worker that finds another one at work leaves it to that one.
  await Promise.all(pools.map(each => pruneTestData(each, systemClock, { ...options, onBatch })));
  await Promise.all(pools.map(each => each.end()));
  expect(pruned).toBe(oldPayments);
  expect([await testPayments(partnerId), await livePayments(partnerId)]).toEqual([0, oldPayments]);
  expect(await past.findings()).toEqual([]);
});

const deliver = (partnerId: Id<'prt'>) =>
  pool.query(
    `INSERT INTO deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at)
     SELECT partner_id, partner_id, id, mode, payment_id, at FROM events WHERE partner_id = $1`,
    [uuidFromId(partnerId)],
  );

test('a delivery in use, or a move to the archive that is not committed, delays it, and nothing is lost', async () => {
  const partnerId = await newShop();
  await deliver(partnerId);
  await pool.query("SELECT archive_prepare('2025-01-01')");
  const pruneDuring = async (statement: string) => {
    const { unlock } = await holdLocks(url, statement, [uuidFromId(partnerId)]);
    const pruned = await pruneTestData(pool, systemClock, options).catch(sqlStateOf);
    await unlock();
    return pruned;
  };
  const [archivePayments, archiveEntries] = [
    "archive_payments($1, 'test', '2025-01-01', '00000000-0000-0000-0000-000000000000', '2025-03-01', 100)",
    "archive_entries($1, 'test', '2025-01-01', 75, 75)",
  ];
  expect(await pruneDuring('SELECT FROM deliveries WHERE partner_id = $1 FOR UPDATE')).toBe('55P03');
  await pool.query('DELETE FROM deliveries WHERE event_id / 2 % 2 = 0');
  expect(await pruneDuring(`SELECT ${archivePayments}`)).toBe(0);
  expect(await pruneDuring(`SELECT ${archiveEntries}`)).toBe(0);
  expect(await count("payments_archive WHERE mode = 'test'", partnerId)).toBeGreaterThan(0);
  expect(await past.findings()).toEqual([]);

  expect(await pruneTestData(pool, systemClock, options)).toBe(oldPayments);
  for (const table of ['all_payments', 'all_events', 'all_entries', 'archived_keys', 'deliveries'])
    expect(await count(`${table} WHERE mode = 'test'`, partnerId)).toBe(0);
  expect(await livePayments(partnerId)).toBe(oldPayments);
  expect(await past.findings()).toEqual([]);
});

/** Begins a work while the oldest test payments of the partner are being pruned, which it must wait for. */
async function duringPruning<Result>(partnerId: Id<'prt'>, work: () => Promise<Result>): Promise<Result> {
  const { unlock } = await holdLocks(url, "SELECT prune_test_data($1, '2025-06-01', 500)", [
    uuidFromId(partnerId),
  ]);
  const working = follow(work());
  await vi.waitFor(async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`,
    );
    expect(rowCount).toBe(1);
  }, 60_000);
  expect(working.hasEnded).toBe(false);
  await unlock();
  return working.result;
}

test('an event that is pruned while an operator sends it again leaves no delivery', async ({ partnerId }) => {
  const uuid = uuidFromId(partnerId);
  await past.addEndpoint(partnerId);
  const { rows } = await pool.query<{ id: bigint }>(
    "SELECT min(id) AS id FROM events WHERE partner_id = $1 AND mode = 'test'",
    [uuid],
  );
  const resent = await duringPruning(partnerId, () => resendEvent(auditContextOf(pool), rows[0]!.id));
  expect(resent).toEqual({ outcome: 'no_event' });
  expect(await count('deliveries WHERE true', partnerId)).toBe(0);
});

test('a payment that is pruned while it is refunded has no refund', async ({ partnerId }) => {
  await past.addEndpoint(partnerId);
  await pool.query(`UPDATE endpoints SET events = events || '{payment.refunded}' WHERE partner_id = $1`, [
    uuidFromId(partnerId),
  ]);
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM payments WHERE partner_id = $1 AND mode = 'test' ORDER BY id LIMIT 1",
    [uuidFromId(partnerId)],
  );
  const paymentId = idFromUuid('pay', rows[0]!.id);
  const deps = { pool, clock: systemClock, signals: createPaymentSignals() };
  const wanted = { partnerId, paymentId, amountKopecks: 1n, reference: 'late' };
  expect(await duringPruning(partnerId, () => refundTestPayment(deps, wanted))).toEqual({
    outcome: 'no_payment',
  });
  for (const table of ['refunds', 'deliveries'])
    expect(await count(`${table} WHERE true`, partnerId)).toBe(0);
  expect(await past.findings()).toEqual([]);
});

test('an account with a fault is not pruned, and keeps back no other', async () => {
  const shops = [await newShop(), await newShop()].sort();
  const [first, second] = shops as [Id<'prt'>, Id<'prt'>];
  await pool.query('ALTER TABLE entries DISABLE TRIGGER USER');
  await pool.query(
    "UPDATE entries SET to_after = to_after + 1 WHERE partner_id = $1 AND mode = 'test' AND entry_no = 2",
    [uuidFromId(first)],
  );
  await pool.query('ALTER TABLE entries ENABLE TRIGGER USER');
  await expect(pruneTestData(pool, systemClock, options)).rejects.toThrow('are not in order');
  expect([await testPayments(first), await testPayments(second)]).toEqual([oldPayments, 0]);
  expect(await past.findings()).toMatchObject([{ invariant: 'each entry carries the balance after it' }]);
});
