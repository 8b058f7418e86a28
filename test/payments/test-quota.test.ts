import { expect, test } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { countRefusal, maxRefusedKeys } from '../../src/payments/create/scenarios.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { auditContextOf, createFundedPartner, setRate } from '../helpers/partners.ts';

const { pool } = await createDatabase();
await setRate(pool);
const quota = { testPaymentsPerDay: 10 };
const dayMs = 86_400_000;

async function start() {
  const clock = manualClock('2026-11-15T12:00:00Z');
  const opening = await openingsOf(pool, clock);
  const partnerId = await createFundedPartner(pool, 10n ** 12n);
  await setLimits(auditContextOf(pool), partnerId, { concurrent: 1_000 });
  const processes = [1, 2].map(() => createPaymentWriter(pool, clock, quota));
  const make = (mode: 'live' | 'test' = 'test') =>
    opening(partnerId, {
      mode,
      microUsdt: 1n,
      paymentId: newId('pay', clock),
      rateStaleAt: new Date('2030-01-01'),
    });
  return { clock, partnerId, processes, make };
}

const openedOf = (results: { verdict: string }[]) =>
  results.filter(({ verdict }) => verdict === 'opened').length;

test('a partner opens as many test payments a day as the quota, over all processes; live ones without limit', async () => {
  const { clock, processes, make } = await start();
  const openMany = (mode: 'live' | 'test') =>
    Promise.all(Array.from({ length: 30 }, (_, nth) => processes[nth % 2]!.open(make(mode))));
  const tested = await openMany('test');
  expect(openedOf(tested)).toBe(10);
  expect(new Set(tested.map(({ verdict }) => verdict))).toEqual(new Set(['opened', 'daily_limit_exceeded']));
  expect(openedOf(await openMany('live'))).toBe(30);
  // An account that was never counted is counted once, with all outcomes.
  await pool.query('UPDATE accounts SET turnover_day = NULL, turnover_kopecks = 0, opened_on_day = 0');
  expect(openedOf(await openMany('test'))).toBe(0);
  clock.advance(dayMs);
  expect(openedOf(await openMany('test'))).toBe(10);
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});

test('a failed or rejected payment counts: its rows stay; a repeated key opens nothing and gets its payment', async () => {
  const { partnerId, processes, make } = await start();
  const [writer] = processes as [(typeof processes)[0]];
  const first = make();
  for (let nth = 0; nth < 10; nth++) {
    const one = nth === 0 ? first : make();
    expect((await writer.open(one)).verdict).toBe('opened');
    const key = { partnerId, mode: 'test', paymentId: one.paymentId } as const;
    await writer.finish(
      nth % 2 === 0
        ? { ...key, outcome: 'failed', code: 'gateway_declined' }
        : { ...key, outcome: 'rejected', code: 'gateway_busy' },
    );
  }
  expect((await writer.open(make())).verdict).toBe('daily_limit_exceeded');
  expect(await writer.open({ ...first, paymentId: make().paymentId })).toMatchObject({
    verdict: 'known',
    paymentId: first.paymentId,
  });
});

test('simulated refusals are remembered for a bounded number of keys', async () => {
  const { clock, partnerId } = await start();
  await countRefusal(pool, clock, partnerId, 'known');
  await pool.query(
    `INSERT INTO test_refusals (partner_id, idempotency_key, times, at)
     SELECT $1, n, 1, $2 FROM generate_series(2, $3::int) AS n`,
    [uuidFromId(partnerId), new Date(clock.nowMs()), maxRefusedKeys],
  );
  expect(await countRefusal(pool, clock, partnerId, 'new')).toBe(false);
  expect(await countRefusal(pool, clock, partnerId, 'known')).toBe(true);
  expect(await countRefusal(pool, clock, partnerId, 'known')).toBe(false);
});
