import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { credit, readBalances, topUp, verifyLedger } from '../../src/ledger/index.ts';
import { auditContextOf, createFundedPartner, newPaymentId, sharedDatabase } from '../helpers/database.ts';
import { hold, newHold, release, settle } from '../helpers/ledger.ts';
import { expectedOutcomes } from './ledger-model.ts';

const { pool } = await sharedDatabase();
const live = 'live' as const;

const liveBalances = async (partnerId: Id<'prt'>) => (await readBalances(pool, partnerId)).live;

describe('hold', () => {
  test('moves available to held, once per payment', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    const item = newHold(partnerId, 60n);
    expect(await hold(pool, clock, [item])).toEqual([{ outcome: 'held', balanceMicroUsdt: 40n }]);
    expect(await hold(pool, clock, [item])).toEqual([{ outcome: 'already_held', balanceMicroUsdt: 40n }]);
    expect(await liveBalances(partnerId)).toEqual({
      availableMicroUsdt: 40n,
      heldMicroUsdt: 60n,
      settledMicroUsdt: 0n,
    });
  });

  test('is refused with the required and the available amount', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    const item = newHold(partnerId, 101n);
    expect(await hold(pool, clock, [item])).toEqual([
      { outcome: 'insufficient', requiredMicroUsdt: 101n, balanceMicroUsdt: 100n },
    ]);
    expect((await liveBalances(partnerId)).heldMicroUsdt).toBe(0n);
  });

  test('of many at once gives each its own verdict: first come, first served, and smaller ones may still fit', async () => {
    const rich = await createFundedPartner(pool, 1_000n);
    const poor = await createFundedPartner(pool, 100n);
    const nobody = newId('prt', clock);
    const items: [Id<'prt'>, bigint, outcome: string][] = [
      [poor, 70n, 'held'],
      [rich, 700n, 'held'],
      [poor, 50n, 'insufficient'],
      [nobody, 1n, 'no_account'],
      [poor, 30n, 'held'],
      [rich, 300n, 'held'],
      [poor, 1n, 'insufficient'],
    ];
    const asked = items.map(([partnerId, microUsdt]) => newHold(partnerId, microUsdt));
    const verdicts = await hold(pool, clock, asked);
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(items.map(([, , outcome]) => outcome));
    expect(verdicts[2]).toMatchObject({ requiredMicroUsdt: 50n, balanceMicroUsdt: 30n });
  });

  test('of zero or a negative amount is refused by the database', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    for (const microUsdt of [0n, -1n])
      await expect(hold(pool, clock, [newHold(partnerId, microUsdt)])).rejects.toThrow();
    expect((await liveBalances(partnerId)).availableMicroUsdt).toBe(100n);
  });

  test('never touches the other mode', async () => {
    const partnerId = await createFundedPartner(pool, 100n);
    const item = newHold(partnerId, 60n);
    await hold(pool, clock, [item]);
    expect((await readBalances(pool, partnerId)).test).toEqual({
      availableMicroUsdt: 10_000_000_000n,
      heldMicroUsdt: 0n,
      settledMicroUsdt: 0n,
    });
    expect(await settle(pool, clock, [{ ...item, mode: 'test' }])).toEqual([{ outcome: 'not_held' }]);
  });
});

describe('settle and release', () => {
  const held = async () => {
    const item = newHold(await createFundedPartner(pool, 100n), 60n);
    await hold(pool, clock, [item]);
    return item;
  };

  test('a payment without a hold can be neither settled nor released', async () => {
    const item = newHold(await createFundedPartner(pool, 100n), 1n);
    expect(await settle(pool, clock, [item])).toEqual([{ outcome: 'not_held' }]);
    expect(await release(pool, clock, [item])).toEqual([{ outcome: 'not_held' }]);
    const unknown = { ...item, partnerId: newId('prt', clock) };
    expect(await settle(pool, clock, [unknown])).toEqual([{ outcome: 'no_account' }]);
  });

  test("another partner's hold cannot be settled or released", async () => {
    const item = await held();
    const foreign = { ...item, partnerId: await createFundedPartner(pool, 100n) };
    expect(await release(pool, clock, [foreign])).toEqual([{ outcome: 'not_held' }]);
    expect((await liveBalances(item.partnerId)).heldMicroUsdt).toBe(60n);
  });
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

  test('by an operator is audited, once', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const item = { partnerId, mode: live, reference: 'tx-1', microUsdt: 5n };
    await topUp(auditContextOf(pool), item);
    await topUp(auditContextOf(pool), item);
    const { rows } = await pool.query(
      "SELECT actor, before, after FROM audit WHERE subject = $1 AND action = 'balance.credit'",
      [partnerId],
    );
    expect(rows).toEqual([
      {
        actor: 'test',
        before: { mode: 'live', balance_usdt: '0.000000' },
        after: { mode: 'live', balance_usdt: '0.000005', reference: 'tx-1', usdt: '0.000005' },
      },
    ]);
  });

  test('beyond the largest bigint is refused and changes nothing', async () => {
    const partnerId = await createFundedPartner(pool, 1n);
    const item = { partnerId, mode: live, reference: 'too much', microUsdt: 2n ** 63n - 1n };
    await expect(credit(pool, clock, [item])).rejects.toThrow(/out of range/);
    expect((await liveBalances(partnerId)).availableMicroUsdt).toBe(1n);
  });
});

test('every entry carries the balances after it, numbered without gaps', async () => {
  const partnerId = await createFundedPartner(pool, 100n);
  const [first, second] = [newHold(partnerId, 10n), newHold(partnerId, 20n)];
  await hold(pool, clock, [first, second]);
  await settle(pool, clock, [first]);
  await release(pool, clock, [second]);
  const { rows } = await pool.query({
    text: `SELECT entry_no, from_account, to_account, micro_usdt, from_after, to_after
             FROM entries WHERE partner_id = $1 AND mode = 'live' ORDER BY entry_no`,
    values: [uuidFromId(partnerId)],
    rowMode: 'array',
  });
  expect(rows).toEqual([
    [1n, 'topup', 'available', 100n, -100n, 100n],
    [2n, 'available', 'held', 10n, 90n, 10n],
    [3n, 'available', 'held', 20n, 70n, 30n],
    [4n, 'held', 'settled', 10n, 20n, 10n],
    [5n, 'held', 'available', 20n, 0n, 90n],
  ]);
});

test('any sequence of calls, however it is cut into batches, agrees with a plain model', async () => {
  const operation = fc.record({
    kind: fc.constantFrom('hold', 'settle', 'release', 'credit'),
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
      const model = partners.map(() => ({
        available: 100n,
        holds: new Map<number, bigint>(),
        ends: new Map<number, string>(),
        refs: new Map<number, bigint>(),
      }));
      for (const batch of calls) {
        // The set-based calls take one kind each; the model takes the items one by one.
        for (const kind of ['hold', 'settle', 'release', 'credit'] as const) {
          const items = batch.filter(item => item.kind === kind);
          const owned = items.map(({ partner, amount }) => ({
            ...{ partnerId: partners[partner]!, mode: live, microUsdt: amount },
          }));
          const payable = owned.map((one, nth) => ({ ...one, paymentId: payments[items[nth]!.payment]! }));
          const credits = owned.map((one, nth) => ({ ...one, reference: `r${items[nth]!.payment}` }));
          const verdicts =
            kind === 'credit'
              ? await credit(pool, clock, credits)
              : await { hold, settle, release }[kind](pool, clock, payable);
          const outcomes = verdicts.map(({ outcome }) => outcome);
          expect(outcomes).toEqual(expectedOutcomes(model, kind, items));
        }
      }
      const balances = await Promise.all(partners.map(liveBalances));
      expect(balances).toEqual(
        model.map(({ available, holds, ends }) => {
          const sumOf = (end?: string) =>
            [...holds].reduce((sum, [payment, held]) => (ends.get(payment) === end ? sum + held : sum), 0n);
          return {
            availableMicroUsdt: available,
            heldMicroUsdt: sumOf(),
            settledMicroUsdt: sumOf('settled'),
          };
        }),
      );
    }),
    { numRuns: 25 },
  );
  expect((await verifyLedger(pool)).findings).toEqual([]);
});
