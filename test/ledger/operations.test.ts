import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import { credit, readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { post } from '../../src/ledger/post.ts';
import { createFundedPartner, newPaymentId, sharedDatabase } from '../helpers/database.ts';
import { hold, newHold, release, settle } from '../helpers/ledger.ts';

const { pool } = await sharedDatabase();
const live = 'live' as const;

const liveBalances = async (partnerId: Id<'prt'>) => (await readBalances(pool, partnerId)).live;
const balances = (availableMicroUsdt: bigint, heldMicroUsdt: bigint, settledMicroUsdt = 0n) => ({
  ...{ availableMicroUsdt, heldMicroUsdt, settledMicroUsdt },
});

describe('hold', () => {
  test('of many at once gives each its own verdict: first come, first served, and smaller ones may still fit', async () => {
    const rich = await createFundedPartner(pool, 1_000n);
    const poor = await createFundedPartner(pool, 100n);
    const nobody = newId('prt', clock);
    const items: [Id<'prt'>, bigint, verdict: string][] = [
      [poor, 101n, 'insufficient'],
      [poor, 70n, 'done'],
      [rich, 700n, 'done'],
      [poor, 50n, 'insufficient'],
      [nobody, 1n, 'no_account'],
      [poor, 30n, 'done'],
      [rich, 300n, 'done'],
      [poor, 1n, 'insufficient'],
    ];
    const asked = items.map(([partnerId, microUsdt]) => newHold(partnerId, microUsdt));
    const verdicts = await hold(pool, clock, asked);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(items.map(([, , verdict]) => verdict));
    expect([verdicts[0]!.balance, verdicts[3]!.balance]).toEqual([100n, 30n]);
  });

  test('of zero or a negative amount is refused by the database', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    for (const microUsdt of [0n, -1n])
      await expect(hold(pool, clock, [newHold(partnerId, microUsdt)])).rejects.toThrow();
    expect((await liveBalances(partnerId)).availableMicroUsdt).toBe(100n);
  });
});

test('a hold is ended in its own account alone, and what is not held is neither settled nor released', async () => {
  const partnerId = await createFundedPartner(pool, 100n);
  const item = newHold(partnerId, 60n);
  await hold(pool, clock, [item]);
  expect((await readBalances(pool, partnerId)).test).toEqual(balances(10_000_000_000n, 0n));
  const others = [
    { ...item, mode: 'test' as const },
    { ...item, partnerId: await createFundedPartner(pool, 100n) },
    newHold(partnerId, 1n),
  ];
  for (const end of [settle, release])
    expect((await end(pool, clock, others)).map(({ verdict }) => verdict)).toEqual(Array(3).fill('not_held'));
  const unknown = { ...item, partnerId: newId('prt', clock) };
  expect(await settle(pool, clock, [unknown])).toMatchObject([{ verdict: 'no_account' }]);
  expect(await liveBalances(partnerId)).toEqual(balances(40n, 60n));
});

describe('credit', () => {
  test('adds to the balance once per reference and mode', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const item = { partnerId, mode: live, reference: 'tx-1', microUsdt: 5n };
    expect(await credit(pool, clock, [item])).toEqual([{ outcome: 'credited', balanceMicroUsdt: 5n }]);
    expect(await credit(pool, clock, [item])).toEqual([
      { outcome: 'already_credited', balanceMicroUsdt: 5n },
    ]);
    expect(await credit(pool, clock, [{ ...item, microUsdt: 6n }])).toEqual([{ outcome: 'conflict' }]);
    expect(await credit(pool, clock, [{ ...item, mode: 'test' }])).toMatchObject([{ outcome: 'credited' }]);
  });

  test('beyond the largest bigint is refused and changes nothing', async () => {
    const partnerId = await createFundedPartner(pool, 1n);
    const item = { partnerId, mode: live, reference: 'too much', microUsdt: 2n ** 63n - 1n };
    await expect(credit(pool, clock, [item])).rejects.toThrow(/out of range/);
    expect((await liveBalances(partnerId)).availableMicroUsdt).toBe(1n);
  });
});

type Kind = 'hold' | 'settle' | 'release' | 'credit';
interface Call {
  payment: number;
  amount: bigint;
}
interface ModelAccount {
  available: bigint;
  holds: Map<number, bigint>;
  ends: Map<number, Kind>;
  refs: Map<number, bigint>;
}

/** What the ledger must say to one call, and an account of the plain model after it. */
function verdictOf(account: ModelAccount, kind: Kind, { payment, amount }: Call): string {
  const { holds, ends, refs } = account;
  const ended = ends.get(payment);
  const known = kind === 'credit' ? refs.get(payment) : holds.get(payment);
  if (kind === 'settle' || kind === 'release') {
    if (known === undefined) return 'not_held';
    if (ended) return ended === kind ? 'already_done' : 'conflict';
    ends.set(payment, kind);
    if (kind === 'release') account.available += known;
    return 'done';
  }
  if (kind === 'hold' && ended) return 'ended';
  if (known !== undefined) return known === amount ? 'already_done' : 'conflict';
  if (kind === 'hold' && account.available < amount) return 'insufficient';
  (kind === 'hold' ? holds : refs).set(payment, amount);
  account.available += kind === 'hold' ? -amount : amount;
  return 'done';
}

test('any sequence of calls, however it is cut into batches, agrees with a plain model', async () => {
  const operation = fc.record({
    kind: fc.constantFrom<Kind>('hold', 'settle', 'release', 'credit'),
    partner: fc.nat(2),
    payment: fc.nat(5),
    amount: fc.constantFrom(10n, 30n, 60n),
  });
  const batches = fc.array(fc.array(operation, { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(batches, async calls => {
      const partners = await Promise.all([1, 2, 3].map(() => createFundedPartner(pool, 100n)));
      const payments = Array.from({ length: 6 }, newPaymentId);
      const model = partners.map(
        (): ModelAccount => ({ available: 100n, holds: new Map(), ends: new Map(), refs: new Map() }),
      );
      for (const batch of calls) {
        // The set-based calls take one kind each; the model takes the items one by one.
        for (const kind of ['hold', 'settle', 'release', 'credit'] as const) {
          const items = batch.filter(item => item.kind === kind);
          const verdicts = await post(
            pool,
            clock,
            items.map(({ partner, payment, amount }) => {
              const account = { partnerId: partners[partner]!, mode: live };
              const paymentId = payments[payment]!;
              if (kind === 'settle' || kind === 'release') return { ...account, operation: kind, paymentId };
              const item = { ...account, microUsdt: amount };
              return kind === 'hold'
                ? { ...item, operation: kind, paymentId }
                : { ...item, operation: kind, reference: `r${payment}` };
            }),
          );
          // Items of one payment are taken together, where the first of them stands: that is the promised order.
          const firstOf = ({ partner, payment }: (typeof items)[0]) =>
            items.findIndex(item => item.partner === partner && item.payment === payment);
          const expected = new Map(
            items
              .toSorted((left, right) => firstOf(left) - firstOf(right))
              .map(item => [item, verdictOf(model[item.partner]!, kind, item)]),
          );
          expect(verdicts.map(({ verdict }) => verdict)).toEqual(items.map(item => expected.get(item)));
        }
      }
      expect(await Promise.all(partners.map(liveBalances))).toEqual(
        model.map(({ available, holds, ends }) => {
          const sumOf = (end?: Kind) =>
            [...holds].reduce((sum, [payment, held]) => (ends.get(payment) === end ? sum + held : sum), 0n);
          return balances(available, sumOf(), sumOf('settle'));
        }),
      );
    }),
    { numRuns: 25 },
  );
  expect((await verifyLedger(pool)).findings).toEqual([]);
});
