import { afterEach, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { blockRecipient, planMaintenance, setMaintenance } from '../../src/controls/index.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { auditContextOf, createFundedPartner, setRate } from '../helpers/partners.ts';

const { pool } = await createDatabase();
const clock = manualClock();
await setRate(pool, clock);
await joinIncarnation({ pool, clock }, { place: undefined, isRestored: false });
const opening = await openingsOf(pool, clock);
const writer = createPaymentWriter(pool, clock);
const audit = auditContextOf(pool, clock);
const partnerId = await createFundedPartner(pool, 1_000_000_000n);
await setLimits(audit, partnerId, { concurrent: 100 });
const unchecked = { name: 'cafe', id: 'merchant-1' };

const verdictsOf = async (...payments: NewPayment[]) =>
  (await Promise.all(payments.map(payment => writer.open(payment)))).map(({ verdict }) => verdict);

/** What stands in the way, and how it goes away again. */
const objections: Record<string, { begin: () => Promise<unknown>; end: () => Promise<unknown> }> = {
  maintenance: { begin: () => setMaintenance(audit, true), end: () => setMaintenance(audit, false) },
  'a planned window': {
    begin: async () => {
      await planMaintenance(audit, {
        from: new Date(clock.nowMs() + 60_000),
        until: new Date(clock.nowMs() + 120_000),
      });
      clock.advance(60_000);
    },
    end: async () => clock.advance(60_000),
  },
  'a history that is being recovered': {
    begin: () => pool.query('UPDATE incarnations SET opened_at = NULL'),
    end: () => pool.query('UPDATE incarnations SET opened_at = now()'),
  },
  'a stray order': {
    begin: () =>
      pool.query(
        `INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, why, incarnation, found_at)
         SELECT gen_random_uuid()::text, 'o', 'succeeded', 1, now(), 'no_reference', 1, now()`,
      ),
    end: () =>
      pool.query("UPDATE stray_orders SET released_at = now(), released_by = 'test', reason = 'test'"),
  },
};

describe.each(Object.entries(objections))('%s', (_, { begin, end }) => {
  afterEach(end);

  test('keeps an unchecked payment from being opened, and nothing of it is there', async () => {
    const before = await readBalances(pool, partnerId);
    await begin();
    const payment = opening(partnerId, { unchecked });
    expect(await verdictsOf(payment)).toEqual(['objection']);
    expect(await readBalances(pool, partnerId)).toEqual(before);
    const { rows } = await pool.query('SELECT FROM payments WHERE id = $1', [uuidFromId(payment.paymentId)]);
    expect(rows).toEqual([]);
    await end();
    expect(await verdictsOf(payment)).toEqual(['opened']);
  });

  test('does not concern a payment that was checked before', async () => {
    await begin();
    expect(await verdictsOf(opening(partnerId))).toEqual(['opened']);
  });
});

test('a stray order is an objection to live payments alone', async () => {
  await objections['a stray order']!.begin();
  expect(await verdictsOf(opening(partnerId, { mode: 'test', unchecked }))).toEqual(['opened']);
  await objections['a stray order']!.end();
});

test.each([
  ['name', { name: 'blocked', id: 'm' }],
  ['id', { name: 'n', id: 'blocked' }],
])('a recipient blocked by its %s is an objection to its own payment alone', async (_, recipient) => {
  await blockRecipient(audit, 'Blocked');
  const payments = [
    opening(partnerId, { unchecked }),
    opening(partnerId, { unchecked: recipient }),
    opening(partnerId),
    // Its account is looked at item by item, since the balance does not suffice.
    opening(partnerId, { unchecked, mode: 'test', microUsdt: 20_000_000_000n }),
    opening(partnerId, { unchecked: recipient, mode: 'test' }),
  ];
  expect(await verdictsOf(...payments)).toEqual([
    'opened',
    'objection',
    'opened',
    'insufficient_balance',
    'objection',
  ]);
});

test('a newer rate is an objection to a payment with the one before', async () => {
  const before = opening(partnerId, { unchecked });
  await setRate(pool, clock, '93.10');
  const newer = (await openingsOf(pool, clock))(partnerId, { unchecked });
  expect(await verdictsOf(before, newer)).toEqual(['objection', 'opened']);
});
