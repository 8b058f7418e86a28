import { test as base, describe, expect } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { type Queryable, transaction } from '../../src/db/postgres/pool.ts';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { hold, newHold, settle } from '../helpers/ledger.ts';
import { countWaiting } from '../helpers/locks.ts';

/** Each of these fails without its guard: `npm run sabotage` removes the guards one by one and checks that. */
const { pool } = await createDatabase();

/** A hold that waits for a transaction, which does something before it and perhaps something while it waits. */
async function holdDuring(
  items: Parameters<typeof hold>[2],
  before: (tx: Queryable) => Promise<unknown>,
  meanwhile: (tx: Queryable) => Promise<unknown> = async () => {},
) {
  return transaction(pool, async tx => {
    await before(tx);
    const result = hold(pool, clock, items);
    while ((await countWaiting(pool)) === 0);
    await meanwhile(tx);
    // In an object: the transaction would wait for a promise.
    return { result };
  });
}
const test = base.extend('partnerId', () => createFundedPartner(pool, 100n));

test('row lock: a hold waits for the one before it and then sees its result', async ({ partnerId }) => {
  const second = await holdDuring([newHold(partnerId, 60n)], tx =>
    hold(tx, clock, [newHold(partnerId, 60n)]),
  );
  expect(await second.result).toEqual([{ verdict: 'insufficient', balance: 40n }]);
});

test('snapshot after the lock: a repeat that waited finds the hold it repeats', async ({ partnerId }) => {
  const item = newHold(partnerId, 30n);
  const second = await holdDuring([item], tx => hold(tx, clock, [item]));
  expect(await second.result).toEqual([{ verdict: 'already_done', balance: 70n }]);
});

test('times never go back: a late entry gets the time of the one before it', async ({ partnerId }) => {
  const late = { ...clock, nowMs: () => Date.parse('2020-01-01') };
  await hold(pool, late, [newHold(partnerId, 1n), newHold(partnerId, 1n)]);
  const { rows } = await pool.query(
    `SELECT count(DISTINCT created_at)::int AS times FROM entries WHERE partner_id = $1 AND mode = 'live'`,
    [uuidFromId(partnerId)],
  );
  expect(rows).toEqual([{ times: 1 }]);
});

test('sort order: accounts are locked from the smallest id up, whatever the order of the items', async () => {
  // With few accounts the planner reads all of them in the order of their key, and would hide a missing ORDER BY.
  await pool.query(`
    INSERT INTO partners (id, name, created_at) SELECT gen_random_uuid(), 'filler', now() FROM generate_series(1, 3000);
    INSERT INTO accounts (partner_id, mode) SELECT id, 'live' FROM partners WHERE name = 'filler';
    ANALYZE accounts`);
  for (let round = 0; round < 5; round++) {
    const [smallest, ...others] = await createPartners(8);
    const { result } = await holdDuring(
      [...others, smallest!].map(partnerId => newHold(partnerId, 1n)),
      tx => lock(tx, [smallest!]),
      // The call waits for the smallest id, so it must not have locked any of the greater ones yet.
      async tx => expect(await lock(tx, others, 'SKIP LOCKED')).toBe(others.length),
    );
    expect((await result).every(({ verdict }) => verdict === 'done')).toBe(true);
  }
});

async function createPartners(count: number): Promise<Id<'prt'>[]> {
  const partners: Id<'prt'>[] = [];
  while (partners.length < count) partners.push(await createFundedPartner(pool, 100n));
  return partners.sort();
}

/** How many of their live accounts could be locked. */
async function lock(tx: Queryable, partners: Id<'prt'>[], otherwise = ''): Promise<number> {
  const { rowCount } = await tx.query({
    text: `SELECT FROM accounts WHERE partner_id = ANY($1) AND mode = 'live' FOR UPDATE ${otherwise}`,
    values: [partners.map(uuidFromId)],
  });
  return rowCount!;
}

test('idempotency: the same hold from many connections at once is made once', async ({ partnerId }) => {
  const item = newHold(partnerId, 10n);
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => hold(pool, clock, [item])));
  expect(verdicts.flat().filter(({ verdict }) => verdict === 'done')).toHaveLength(1);
  expect((await readBalances(pool, partnerId)).live.heldMicroUsdt).toBe(10n);
});

test('two hundred holds at once with a balance for three make three', async () => {
  const partnerId = await createFundedPartner(pool, 30n);
  const verdicts = await Promise.all(
    Array.from({ length: 200 }, () => hold(pool, clock, [newHold(partnerId, 10n)])),
  );
  expect(verdicts.flat().filter(({ verdict }) => verdict === 'done')).toHaveLength(3);
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

/** Bits of `pg_trigger.tgtype`. */
const onTruncate = 32;
const onRows = 4 + 8 + 16;

describe('the database itself refuses', () => {
  const heldItem = async () => {
    const item = newHold(await createFundedPartner(pool, 100n), 60n);
    await hold(pool, clock, [item]);
    return { ...item, ids: [uuidFromId(item.partnerId), uuidFromId(item.paymentId)] };
  };
  const secondEntry = (fromAccount: string, toAccount: string) =>
    `INSERT INTO entries VALUES ($1, 'live', 99, '${fromAccount}', '${toAccount}', 60, 0, 0, $2, NULL, now())`;

  test.each([
    ['idempotency index: a second hold of a payment', 'available', 'held', 'entries_once_per_payment'],
    ['idempotency index: a release after a settle', 'held', 'available', 'entries_once_per_payment'],
    ['kinds: a transfer that no operation makes', 'settled', 'available', 'entries_are_of_a_known_kind'],
  ])('%s', async (_what, from, to, constraint) => {
    const { ids, ...item } = await heldItem();
    if (from === 'held') await settle(pool, clock, [item]);
    await expect(pool.query(secondEntry(from, to), ids)).rejects.toThrow(constraint);
  });

  test('idempotency index: a second credit with a reference', async () => {
    const { ids } = await heldItem();
    const again = `INSERT INTO entries VALUES ($1, 'live', 99, 'topup', 'available', 1, 0, 0, NULL, 'funding', now())`;
    await expect(pool.query(again, ids.slice(0, 1))).rejects.toThrow(/entries_once_per_reference/);
  });

  test.each(['available', 'held', 'settled'])('non-negative check: %s below zero', async account => {
    const { ids } = await heldItem();
    const overdraw = `UPDATE accounts SET ${account} = -1, treasury = treasury + ${account} + 1 WHERE partner_id = $1 AND mode = 'live'`;
    await expect(pool.query(overdraw, ids.slice(0, 1))).rejects.toThrow(/accounts_never_below_zero/);
  });

  test('zero sum: money from nowhere', async () => {
    const { ids } = await heldItem();
    const invent = 'UPDATE accounts SET available = available + 1 WHERE partner_id = $1';
    await expect(pool.query(invent, ids.slice(0, 1))).rejects.toThrow(/accounts_sum_to_zero/);
  });

  test.each([
    ['UPDATE', 'UPDATE entries SET micro_usdt = 1'],
    ['DELETE', 'DELETE FROM entries'],
    ['TRUNCATE', 'TRUNCATE entries'],
    ['UPDATE', "UPDATE audit SET actor = 'somebody else'"],
    ['DELETE', 'DELETE FROM audit'],
    ['TRUNCATE', 'TRUNCATE audit'],
    ['UPDATE', 'UPDATE events SET at = now()'],
    ['TRUNCATE', 'TRUNCATE events'],
    ['DELETE', 'DELETE FROM test_checkpoints'],
    ['TRUNCATE', 'TRUNCATE test_checkpoints'],
    ['UPDATE', 'UPDATE rates SET rate_e4 = 1'],
    ['TRUNCATE', 'TRUNCATE rates'],
    ['TRUNCATE', 'TRUNCATE rate_rules'],
    ['UPDATE', 'UPDATE audit_chain SET audit_id = 9'],
    ['DELETE', 'DELETE FROM audit_chain'],
    ['TRUNCATE', 'TRUNCATE audit_chain'],
  ])('append-only: %s by %s', async (operation, sql) => {
    await heldItem();
    await expect(pool.query(sql)).rejects.toThrow(new RegExp(`^${operation} of \\w+ is refused`));
  });

  test('with a trigger for TRUNCATE alone', async () => {
    // One that is also for rows would not reach tables that are spread over machines.
    const { rows } = await pool.query(
      `SELECT tgname FROM pg_trigger WHERE tgtype & ${onTruncate} > 0 AND tgtype & ${onRows} > 0`,
    );
    expect(rows).toEqual([]);
  });
});
