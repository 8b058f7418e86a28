import { afterEach, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { blockRecipient, planMaintenance, setMaintenance } from '../../src/controls/index.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { auditContextOf, createFundedPartner, setRate } from '../helpers/partners.ts';

/*
 * What refuses a payment before its account is looked at may have come since the request was checked: the opening looks again, in the
 * transaction that would debit.
 */
const { pool } = await createDatabase();
const clock = manualClock();
await setRate(pool, clock);
await joinIncarnation({ pool, clock }, { place: undefined, isRestored: false });
const opening = await openingsOf(pool, clock);
const writer = createPaymentWriter(pool, clock);
const audit = auditContextOf(pool, clock);
const partnerId = await createFundedPartner(pool, 1_000_000_000n);
await setLimits(audit, partnerId, { concurrent: 100 });

const verdictsOf = async (...payments: NewPayment[]) =>
  (await Promise.all(payments.map(payment => writer.open(payment)))).map(({ verdict }) => verdict);

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
  expect(await verdictsOf(...payments)).toEqual([
    'opened',
    'recipient_blocked',
    'insufficient_balance',
    'recipient_blocked',
  ]);
});

test('a payment whose rate is not the newest is not opened, and the key of a payment comes first', async () => {
  const before = opening(partnerId);
  const known = opening(partnerId);
  expect(await verdictsOf(known)).toEqual(['opened']);
  await setRate(pool, clock, '93.10');
  const newer = (await openingsOf(pool, clock))(partnerId);
  expect(await verdictsOf(before, newer, known)).toEqual(['rate_changed', 'opened', 'known']);
});
