import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { blockRecipient, planMaintenance, setMaintenance } from '../../src/controls/index.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { readBalances } from '../../src/ledger/index.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { createTimedDatabase, setRate } from '../helpers/database.ts';
import { openingsOf, startOpenings } from '../helpers/openings.ts';
import { createRandom } from '../helpers/random.ts';

const { pool, clock, audit } = await createTimedDatabase();
await setRate(pool, clock);
await joinIncarnation({ pool, clock }, { place: undefined, isRestored: false });
const { opening, writer, openAll, verdictsOf, newPartner, findings } = await startOpenings(pool, clock);
const inTest = { mode: 'test' } as const;
const succeeded = { outcome: 'succeeded' } as const;
const declined = { outcome: 'failed', code: 'gateway_declined' } as const;

describe('payments that end when they are opened', () => {
  test('have their entries, balance and event at once, beside one that goes on', async () => {
    const partnerId = await newPartner();
    const make = (microUsdt: bigint, ending?: NewPayment['ending']) =>
      opening(partnerId, { ...inTest, microUsdt, ...(ending ? { ending } : {}) });
    const payments = [make(10n, succeeded), make(20n), make(30n, declined), make(40n, succeeded)];
    expect(await verdictsOf(...payments)).toEqual(Array(4).fill('opened'));
    expect((await readBalances(pool, partnerId)).test).toMatchObject({
      availableMicroUsdt: 9_999_999_930n,
      heldMicroUsdt: 20n,
      settledMicroUsdt: 50n,
    });
    const { rows } = await pool.query<{ id: string; status: string; error: string | null; events: bigint }>(
      `SELECT p.id, p.status, p.error_code AS error, (SELECT count(*) FROM events e WHERE e.payment_id = p.id) AS events
         FROM payments p WHERE p.partner_id = $1`,
      [uuidFromId(partnerId)],
    );
    const found = payments.map(({ paymentId }) => rows.find(({ id }) => id === uuidFromId(paymentId))!);
    expect(found.map(({ status, error, events }) => `${status} ${error} ${events}`)).toEqual([
      'succeeded null 1',
      'processing null 0',
      'failed gateway_declined 1',
      'succeeded null 1',
    ]);
    expect(await findings()).toEqual([]);
  });

  test('a code under way is not paid by a payment that ends at once', async () => {
    const partnerId = await newPartner();
    const under = opening(partnerId, inTest);
    await writer.open(under);
    const second = opening(partnerId, { ...inTest, qrcId: under.qrcId, ending: succeeded });
    expect((await writer.open(second)).verdict).toBe('duplicate_qr_in_flight');
  });

  test('one whose balance does not suffice is refused, and the others of its batch end', async () => {
    const partnerId = await newPartner();
    const make = (microUsdt: bigint) => opening(partnerId, { ...inTest, microUsdt, ending: succeeded });
    const verdicts = await verdictsOf(make(6_000_000_000n), make(6_000_000_000n), make(4_000_000_000n));
    expect(verdicts).toEqual(['opened', 'insufficient_balance', 'opened']);
    expect((await readBalances(pool, partnerId)).test).toMatchObject({
      availableMicroUsdt: 0n,
      heldMicroUsdt: 0n,
      settledMicroUsdt: 10_000_000_000n,
    });
    expect(await findings()).toEqual([]);
  });
});

test('a text that no index can hold fails its own payment, not those of the same batch', async () => {
  const partners = [await newPartner(), await newPartner(), await newPartner(), await newPartner()];
  // Random, since PostgreSQL compresses what repeats.
  const changes = [{}, {}, { recipient: randomBytes(3_375).toString('base64') }, {}];
  const outcomes = await Promise.allSettled(
    partners.map((partnerId, nth) => writer.open(opening(partnerId, changes[nth]))),
  );
  const verdicts = outcomes.map(outcome =>
    outcome.status === 'fulfilled' ? outcome.value.verdict : outcome.reason.code,
  );
  expect(verdicts).toEqual(['opened', 'opened', '54000', 'opened']);
  expect(await findings()).toEqual([]);
});

test('a rate that has become stale refuses its payments, and those of other partners are opened', async () => {
  const [first, second] = [await newPartner(), await newPartner()];
  // The first payment of a day is opened singly.
  await openAll([opening(first), opening(second)]);
  const stale = { rateStaleAt: new Date(clock.nowMs() - 1) };
  expect(await verdictsOf(opening(first, stale), opening(second))).toEqual(['rate_unavailable', 'opened']);
});

test('a batch has the verdicts that its payments would have one by one', async () => {
  const random = createRandom(1);
  for (let round = 0; round < 15; round++) {
    const concurrent = random.between(1, 8);
    const [together, singly] = [await newPartner({ concurrent }), await newPartner({ concurrent })];
    const keys = Array.from({ length: random.between(1, 8) }, (_, nth) => `key ${nth}`);
    const drawn = Array.from({ length: random.between(1, 8) }, (_, nth) => ({
      ...inTest,
      idempotencyKey: random.chance(0.2) ? random.pick(keys) : `round ${round} item ${nth}`,
      qrcId: random.chance(0.2) ? 'the same code' : `round ${round} code ${nth}`,
      microUsdt: BigInt(random.between(1, 40)) * 100_000_000n,
    }));
    const batch = await verdictsOf(...drawn.map(change => opening(together, change)));
    const oneByOne: string[] = [];
    // Items of a key follow the first of them.
    const order = drawn.toSorted((a, b) => firstOf(a) - firstOf(b));
    function firstOf({ idempotencyKey }: { idempotencyKey: string }): number {
      return drawn.findIndex(item => item.idempotencyKey === idempotencyKey);
    }
    for (const change of order)
      oneByOne[drawn.indexOf(change)] = (await writer.open(opening(singly, change))).verdict;
    expect({ round, verdicts: batch }).toEqual({ round, verdicts: oneByOne });
    const [left, right] = [await readBalances(pool, together), await readBalances(pool, singly)];
    expect(left.test).toEqual(right.test);
  }
  expect(await findings()).toEqual([]);
});

/*
 * What refuses a payment before its account is looked at may have come since the request was checked: the opening looks again, in the
 * transaction that would debit.
 */
const partnerId = await newPartner();

const addStray = (columns: string, ...values: unknown[]) =>
  pool.query(
    `INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, why, incarnation, found_at, ${columns})
     VALUES (gen_random_uuid()::text, 'o', 'succeeded', 1, now(), 'insufficient_balance', 1, now(), $1)`,
    values,
  );
const releaseStrays = () =>
  pool.query("UPDATE stray_orders SET released_at = now(), released_by = 'test', reason = 'test'");

interface Stop {
  verdict: string;
  begin: (payment: NewPayment) => Promise<unknown>;
  end: () => Promise<unknown>;
  isOfLivePayments?: boolean;
}

const stops: Record<string, Stop> = {
  maintenance: {
    verdict: 'maintenance',
    begin: () => setMaintenance(audit, true),
    end: () => setMaintenance(audit, false),
  },
  'a planned window': {
    verdict: 'maintenance',
    begin: async () => {
      await planMaintenance(audit, {
        from: new Date(clock.nowMs() + 60_000),
        until: new Date(clock.nowMs() + 120_000),
      });
      await clock.advance(60_000);
    },
    end: () => clock.advance(60_000),
  },
  'a history that is being recovered': {
    verdict: 'maintenance',
    begin: () => pool.query('UPDATE incarnations SET opened_at = NULL'),
    end: () => pool.query('UPDATE incarnations SET opened_at = now()'),
  },
  'a stray order of the partner': {
    verdict: 'maintenance',
    begin: payment => addStray('partner_id', uuidFromId(payment.partnerId)),
    end: releaseStrays,
    isOfLivePayments: true,
  },
  'a stray order of the code': {
    verdict: 'duplicate_qr_in_flight',
    begin: payment => addStray('qrc_id', payment.qrcId),
    end: releaseStrays,
    isOfLivePayments: true,
  },
};

describe.each(Object.entries(stops))('%s', (_, { verdict, begin, end, isOfLivePayments = false }) => {
  afterEach(end);

  test('keeps a payment from being opened, and nothing of it is there', async () => {
    const before = await readBalances(pool, partnerId);
    const payment = opening(partnerId);
    await begin(payment);
    expect(await verdictsOf(payment)).toEqual([verdict]);
    expect(await readBalances(pool, partnerId)).toEqual(before);
    for (const table of ['payments', 'open_payments'])
      expect((await pool.query(`SELECT FROM ${table} WHERE qrc_id = $1`, [payment.qrcId])).rowCount).toBe(0);
    await end();
    expect(await verdictsOf(payment)).toEqual(['opened']);
  });

  test('is of test payments only if it is of the service as a whole', async () => {
    const payment = opening(partnerId, { mode: 'test' });
    await begin(payment);
    expect(await verdictsOf(payment)).toEqual([isOfLivePayments ? 'opened' : verdict]);
  });
});

test.each([
  ['name', { name: 'blocked', id: 'm' }],
  ['id', { name: 'n', id: 'blocked' }],
])('a recipient blocked by its %s refuses its own payment alone', async (_, recipient) => {
  const folded = { name: 'cafe', id: 'merchant-1' };
  await blockRecipient(audit, 'Blocked');
  const payments = [
    opening(partnerId, { folded }),
    opening(partnerId, { folded: recipient }),
    opening(partnerId, { folded, mode: 'test', microUsdt: 20_000_000_000n }),
    opening(partnerId, { folded: recipient, mode: 'test' }),
  ];
  const refused = ['opened', 'recipient_blocked', 'insufficient_balance', 'recipient_blocked'];
  expect(await verdictsOf(...payments)).toEqual(refused);
});

test('a payment whose rate is not the newest is not opened, and the key of a payment comes first', async () => {
  const before = opening(partnerId);
  const known = opening(partnerId);
  expect(await verdictsOf(known)).toEqual(['opened']);
  await setRate(pool, clock, '93.10');
  const newer = (await openingsOf(pool, clock))(partnerId);
  expect(await verdictsOf(before, newer, known)).toEqual(['rate_changed', 'opened', 'known']);
});
