import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { type Queryable, transaction } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase, setRate } from '../helpers/database.ts';
import { startOpenings } from '../helpers/openings.ts';
import { createRandom } from '../helpers/random.ts';

const { pool } = await createDatabase();
await setRate(pool);
const dayMs = 86_400_000;

interface Booked {
  partnerId: `prt_${string}`;
  mode: Mode;
  paymentId: `pay_${string}`;
  kopecks: bigint;
  createdMs: number;
  counts: boolean;
}

/** Two partners on a clock of their own, and a second process whose clock may differ. */
async function startModel(seed: number) {
  const random = createRandom(seed);
  const clock = manualClock('2026-11-15T22:00:00Z');
  const other = manualClock('2026-11-15T22:00:00Z');
  const { opening, newPartner, findings } = await startOpenings(pool, clock);
  const processes = [clock, other].map(own => ({ clock: own, writer: createPaymentWriter(pool, own) }));
  const partners = [await newPartner(), await newPartner()];
  const limits = new Map<string, bigint | null>();
  const booked: Booked[] = [];
  const open: Booked[] = [];
  /** The meaning of the limit: what was created since the day began and did not fail. */
  const turnoverOf = (partnerId: string, mode: Mode, nowMs: number) =>
    booked
      .filter(p => p.partnerId === partnerId && p.mode === mode && p.counts)
      .filter(p => p.createdMs >= nowMs - (nowMs % dayMs))
      .reduce((sum, { kopecks }) => sum + kopecks, 0n);

  async function openSome() {
    const { writer, clock: at } = random.pick(processes);
    const items = Array.from({ length: random.between(1, 4) }, () => ({
      partnerId: random.pick(partners),
      mode: random.pick(['live', 'test'] as const),
      paymentId: newId('pay', at),
      kopecks: BigInt(random.between(1, 50) * 100),
    }));
    // One item per partner and mode, so that the order within the batch does not matter to the model.
    const alone = [...new Map(items.map(item => [`${item.partnerId} ${item.mode}`, item])).values()];
    const results = await Promise.all(
      alone.map(({ kopecks, ...item }) =>
        writer.open(
          opening(item.partnerId, {
            ...{ ...item, amountKopecks: kopecks, microUsdt: 1n, idempotencyKey: randomUUID() },
            rateStaleAt: new Date('2030-01-01'),
          }),
        ),
      ),
    );
    alone.forEach((item, nth) => {
      const limit = limits.get(item.partnerId) ?? null;
      const before = turnoverOf(item.partnerId, item.mode, at.nowMs());
      const fits = limit === null || before + item.kopecks <= limit;
      expect(results[nth]!.verdict).toBe(fits ? 'opened' : 'daily_limit_exceeded');
      if (!fits) return;
      const payment = { ...item, createdMs: at.nowMs(), counts: true };
      booked.push(payment);
      open.push(payment);
    });
  }

  async function finishSome() {
    const ending = random.shuffle(open).splice(0, random.between(1, 3));
    const { writer, clock: at } = random.pick(processes);
    await Promise.all(
      ending.map(({ partnerId, mode, paymentId, ...payment }) => {
        // Only a young payment is undone.
        const isYoung = at.nowMs() < payment.createdMs + 45_000;
        const undone = isYoung ? (['rejected'] as const) : [];
        const outcome = random.pick(['succeeded', 'failed', ...undone] as const);
        const key = { partnerId, mode, paymentId };
        const model = booked.find(other => other.paymentId === paymentId)!;
        model.counts = outcome === 'succeeded' && payment.counts;
        if (outcome === 'failed') return writer.finish({ ...key, outcome, code: 'gateway_declined' });
        return writer.finish(
          outcome === 'succeeded' ? { ...key, outcome } : { ...key, outcome, code: 'gateway_busy' },
        );
      }),
    );
  }

  return {
    steps: [
      openSome,
      openSome,
      openSome,
      finishSome,
      finishSome,
      async () => clock.advance(random.between(1, 3_600_000)),
      // A day passes; payments of yesterday are still open.
      async () => {
        if (random.chance(0.2)) clock.advance(dayMs);
      },
      // The other process follows, a little behind or ahead: around midnight the two are on different days.
      async () => other.advance(clock.nowMs() - other.nowMs() + random.between(-600_000, 600_000)),
      // The limit appears, moves and goes at any hour.
      async () => {
        const partnerId = random.pick(partners);
        const dailyKopecks = random.chance(0.3) ? null : BigInt(random.between(0, 300) * 100);
        await setLimits(auditContextOf(pool), partnerId, { dailyKopecks });
        limits.set(partnerId, dailyKopecks);
      },
    ],
    ...{ random, findings },
  };
}

test.each([1, 2, 3])(
  'the counter is the sum of the day through everything that happens (seed %i)',
  async seed => {
    const { steps, random, findings } = await startModel(seed);
    for (let nth = 0; nth < 150; nth++) {
      await random.pick(steps)();
      if (nth % 30 === 0) expect(await findings()).toEqual([]);
    }
    expect(await findings()).toEqual([]);
  },
);

test('an account that was never counted is added up once', async () => {
  const clock = manualClock();
  const { opening, writer, newPartner, findings } = await startOpenings(pool, clock);
  const partnerId = await newPartner();
  const next = () => writer.open(opening(partnerId, { paymentId: newId('pay', clock) }));
  await next();
  // As before the migration.
  await pool.query('UPDATE accounts SET turnover_day = NULL, turnover_kopecks = 0');
  await setLimits(auditContextOf(pool), partnerId, { dailyKopecks: 45_000n, concurrent: 9 });
  const verdicts = [];
  for (let nth = 0; nth < 3; nth++) verdicts.push((await next()).verdict);
  expect(verdicts).toEqual(['opened', 'opened', 'daily_limit_exceeded']);
  expect(await findings()).toEqual([]);
});

test('an opening under a daily limit reads no other payment of the day', async () => {
  const clock = manualClock();
  const { opening, openAll, newPartner } = await startOpenings(pool, clock);
  const partnerId = await newPartner({ dailyKopecks: 10n ** 12n, concurrent: 1_000 });
  const one = () => opening(partnerId, { paymentId: newId('pay', clock) });
  await openAll(Array.from({ length: 500 }, one));
  const read = await transaction(pool, async tx => {
    // The counters of a session also have what it did a moment ago and has not reported yet.
    const before = await rowsRead(tx);
    expect((await createPaymentWriter(tx, clock).open(one())).verdict).toBe('opened');
    return (await rowsRead(tx)) - before;
  });
  expect(read).toBeLessThan(5n);
});

/** Rows of `payments` that this session has read through any index. */
async function rowsRead(tx: Queryable): Promise<bigint> {
  const { rows } = await tx.query<{ returned: bigint }>({
    text: `SELECT sum(pg_stat_get_xact_tuples_returned(i.indexrelid))::bigint AS returned
             FROM pg_index i WHERE i.indrelid = 'payments'::regclass`,
  });
  return rows[0]!.returned;
}
