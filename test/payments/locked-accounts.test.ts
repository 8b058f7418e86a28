import { test as base, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import { openPool, type Queryable } from '../../src/db/postgres/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createDatabase, setRate } from '../helpers/database.ts';
import { countWaiting, follow, holdLocks } from '../helpers/locks.ts';
import { startOpenings } from '../helpers/openings.ts';

type PartnerId = Id<'prt'>;

const { pool, url } = await createDatabase();
/** Payments wait for a locked account as long as the test needs. */
const clock = { ...systemClock, monotonicMs: () => 0 };
await setRate(pool);
const { opening, newPartner } = await startOpenings(pool, clock);
type Opening = ReturnType<typeof opening>;
const newPartners = (count: number) => Promise.all(Array.from({ length: count }, () => newPartner()));

/** Another program locks these accounts until the returned function is called. */
const lockAccounts = async (...partnerIds: PartnerId[]) => {
  const text = "SELECT FROM accounts WHERE partner_id = ANY ($1) AND mode = 'live' FOR UPDATE";
  return (await holdLocks(url, text, [partnerIds.map(uuidFromId)])).unlock;
};

/** The pool, with a record of the statements that went through it. */
function watched(): { db: Queryable; names: string[] } {
  const names: string[] = [];
  const query: Queryable['query'] = statement => {
    names.push(statement.name!);
    return pool.query(statement);
  };
  return { db: { query }, names };
}

const ended = ({ partnerId, paymentId }: Opening) =>
  ({ partnerId, paymentId, mode: 'live', outcome: 'succeeded' }) as const;

const availableOf = async (partnerId: PartnerId) => {
  const { rows } = await pool.query<{ available: bigint }>({
    text: "SELECT available FROM accounts WHERE partner_id = $1 AND mode = 'live'",
    values: [uuidFromId(partnerId)],
  });
  return rows[0]!.available;
};
const test = base.extend('writer', () => createPaymentWriter(pool, clock));

test('a locked account holds up no payment of others, in the same batch or later', async ({ writer }) => {
  const [locked, second, third] = (await newPartners(3)) as [PartnerId, PartnerId, PartnerId];
  const payments = [opening(second), opening(locked), opening(third)] as const;
  const later = opening(second);

  let unlock = await lockAccounts(locked);
  const [opensSecond, opens, opensThird] = payments.map(payment => follow(writer.open(payment)));
  expect((await opensSecond!.result).verdict).toBe('opened');
  expect((await opensThird!.result).verdict).toBe('opened');
  expect((await writer.open(later)).verdict).toBe('opened');
  expect(opens!.hasEnded).toBe(false);
  await unlock();
  expect((await opens!.result).verdict).toBe('opened');

  unlock = await lockAccounts(locked);
  const [endsSecond, ends, endsThird] = payments.map(payment => follow(writer.finish(ended(payment))));
  expect(await endsSecond!.result).toMatchObject({ changed: true });
  expect(await endsThird!.result).toMatchObject({ changed: true });
  expect(await writer.finish(ended(later))).toMatchObject({ changed: true });
  expect(ends!.hasEnded).toBe(false);
  await unlock();
  expect(await ends!.result).toMatchObject({ changed: true, status: 'succeeded' });
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

test('an account that stays locked gets the usual error and no debit, and its repeat debits once', async () => {
  const impatient = openPool({ ...pool.options, lock_timeout: 1_000 });
  const writer = createPaymentWriter(impatient, clock);
  const [locked, other] = (await newPartners(2)) as [PartnerId, PartnerId];
  const before = await availableOf(locked);
  const payment = opening(locked);
  const unlock = await lockAccounts(locked);
  const opens = writer.open(payment).catch(error => error.code);
  expect((await writer.open(opening(other))).verdict).toBe('opened');
  expect(await opens).toBe('55P03');
  expect(await availableOf(locked)).toBe(before);
  await unlock();
  expect((await writer.open(payment)).verdict).toBe('opened');
  expect((await writer.open(payment)).verdict).toBe('known');
  expect(await availableOf(locked)).toBe(before - payment.microUsdt);
  await impatient.end();
});

test('twenty locked accounts leave connections for the others, and all go on when they are free', async () => {
  const writer = createPaymentWriter(pool, clock);
  const [other, ...locked] = (await newPartners(21)) as [PartnerId, ...PartnerId[]];
  const opened = locked.map(partnerId => opening(partnerId));
  await Promise.all(opened.map(writer.open));

  const unlock = await lockAccounts(...locked);
  const opens = locked.map(partnerId => follow(writer.open(opening(partnerId))));
  const finishes = opened.map(payment => follow(writer.finish(ended(payment))));
  const free = opening(other);
  expect((await writer.open(free)).verdict).toBe('opened');
  expect((await writer.finish(ended(free))).changed).toBe(true);
  expect(await countWaiting(pool)).toBeLessThanOrEqual(4);
  expect([...opens, ...finishes].filter(({ hasEnded }) => hasEnded)).toEqual([]);
  await unlock();
  for (const { result } of opens) expect((await result).verdict).toBe('opened');
  for (const { result } of finishes) expect((await result).changed).toBe(true);
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

test('payments of a locked account are opened in the order in which they came', async ({ writer }) => {
  // Enough for two.
  const locked = await newPartner({ concurrent: 10_000 }, 3_300_000n);
  const other = await newPartner();
  const unlock = await lockAccounts(locked);
  const opens = [writer.open(opening(locked))];
  const together = writer.open(opening(other));
  // These are behind the first batch in the shared lane when the account gets its own lane, where the last one goes.
  await nextLoopTurn();
  await nextLoopTurn();
  opens.push(writer.open(opening(locked)));
  const behind = writer.open(opening(other));
  await together;
  opens.push(writer.open(opening(locked)));
  await behind;
  await unlock();
  const results = await Promise.all(opens);
  expect(results.map(({ verdict }) => verdict)).toEqual(['opened', 'opened', 'insufficient_balance']);
});

test('a QR code that a stopped decision locks holds up only the payment of that code', async ({ writer }) => {
  const [payer, sameCode, other] = (await newPartners(3)) as [PartnerId, PartnerId, PartnerId];
  const first = opening(payer);
  await writer.open(first);
  const { session, unlock } = await holdLocks(url, 'SELECT', []);
  await createPaymentWriter(session, clock).finish(ended(first));
  const opens = follow(writer.open(opening(sameCode, { qrcId: first.qrcId })));
  expect((await writer.open(opening(other))).verdict).toBe('opened');
  expect(opens.hasEnded).toBe(false);
  await unlock();
  expect((await opens.result).verdict).toBe('opened');
});

test('a busy account of two processes stays in the shared lane, or returns to it', async () => {
  const processes = [watched(), watched()];
  const writers = processes.map(({ db }) => createPaymentWriter(db, clock));
  const [busy, other] = (await newPartners(2)) as [PartnerId, PartnerId];
  const rounds = 3;
  for (let round = 0; round < rounds; round++) {
    const payments = Array.from({ length: 100 }, () => opening(busy));
    const opened = await Promise.all(payments.map((payment, nth) => writers[nth % 2]!.open(payment)));
    expect(opened.filter(({ verdict }) => verdict !== 'opened')).toEqual([]);
    await Promise.all(payments.map((payment, nth) => writers[nth % 2]!.finish(ended(payment))));
  }
  for (const [nth, { names }] of processes.entries()) {
    // On a machine so slow that a batch lasts 250 ms, an account may have to wait alone: then a few more for each batch.
    expect(names.length).toBeLessThanOrEqual(rounds * 2 * 5);
    await writers[nth]!.open(opening(busy));
    names.length = 0;
    await Promise.all([busy, other].map(partnerId => writers[nth]!.open(opening(partnerId))));
    expect(names).toEqual(['payments_open']);
  }
});
