import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { sessionOf } from '../../src/db/shards/sessions.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createShard } from '../helpers/create-shard.ts';
import { startShardsWorld } from './shards-world.ts';

const count = 4;
const world = await startShardsWorld(count);
const { shards, all, clock, newPartner, newProcess, opening } = world;
const minutes = 60_000;

const openOf = async (code: string) =>
  (await all.query('SELECT partner_id, payment_id FROM open_payments WHERE qrc_id = $1', [code])).rows;
const reservationsOf = async (code: string) =>
  (await all.query('SELECT partner_id, payment_ids FROM code_reservations WHERE qrc_id = $1', [code])).rows;

/** Until so many sessions wait for a row, each for so long. */
const waiting = (sessions: number, ms = 0) =>
  vi.waitFor(async () => {
    const { rows } = await world.pool.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND clock_timestamp() - query_start > make_interval(secs => $1)`,
      [ms / 1_000],
    );
    expect(rows[0].n).toBeGreaterThanOrEqual(sessions);
  }, 5_000);

describe('one code and partners of different shards', () => {
  test('from two processes at once: one payment goes ahead, every time', async () => {
    const partners = await Promise.all(shards.map((_, shard) => newPartner(shard)));
    const processes = [newProcess(), newProcess()];
    for (let round = 0; round < 15; round++) {
      const qrcId = randomUUID();
      const results = await Promise.all(
        partners.flatMap((partnerId, shard) =>
          processes.map(({ writers }) => writers[shard]!.open(opening(partnerId, { qrcId }))),
        ),
      );
      const verdicts = results.map(({ verdict }) => verdict).sort();
      expect(verdicts).toEqual([...Array(2 * count - 1).fill('duplicate_qr_in_flight'), 'opened']);
      expect(await openOf(qrcId)).toHaveLength(1);
      expect(await reservationsOf(qrcId)).toMatchObject([
        await openOf(qrcId).then(([row]) => ({ partner_id: row.partner_id })),
      ]);
    }
    for (const db of shards) expect((await verifyLedger(db)).findings).toEqual([]);
  });

  test('after the end the code is free for the other', async () => {
    const [one, other] = [await newPartner(1), await newPartner(2)];
    const { writers } = newProcess();
    const payment = opening(one);
    const { qrcId, paymentId } = payment;
    expect(await writers[1]!.open(payment)).toMatchObject({ verdict: 'opened' });
    expect(await writers[2]!.open(opening(other, { qrcId }))).toMatchObject({
      verdict: 'duplicate_qr_in_flight',
    });
    await writers[1]!.finish({ partnerId: one, mode: 'live', paymentId, outcome: 'succeeded' });
    expect(await reservationsOf(qrcId)).toEqual([]);
    expect(await writers[2]!.open(opening(other, { qrcId }))).toMatchObject({ verdict: 'opened' });
  });

  test('a payment that is refused for another reason keeps no code', async () => {
    const [poor, other] = [await newPartner(1), await newPartner(3)];
    const { writers } = newProcess();
    const payment = opening(poor, { microUsdt: 10n ** 15n });
    expect(await writers[1]!.open(payment)).toMatchObject({ verdict: 'insufficient_balance' });
    expect(await writers[3]!.open(opening(other, { qrcId: payment.qrcId }))).toMatchObject({
      verdict: 'opened',
    });
  });

  test('a repeated request finds its payment though the code is another partner’s by now', async () => {
    const [one, other] = [await newPartner(0), await newPartner(1)];
    const { writers } = newProcess();
    const payment = opening(one);
    const { qrcId, paymentId, idempotencyKey } = payment;
    await writers[0]!.open(payment);
    await writers[0]!.finish({
      partnerId: one,
      mode: 'live',
      paymentId,
      outcome: 'failed',
      code: 'not_executed',
    });
    await writers[1]!.open(opening(other, { qrcId }));
    expect(await writers[0]!.open(opening(one, { qrcId, idempotencyKey }))).toMatchObject({
      verdict: 'known',
      paymentId,
    });
    const stale = opening(one, { qrcId, rateStaleAt: new Date(clock.nowMs() - 1) });
    expect(await writers[0]!.open(stale)).toMatchObject({ verdict: 'rate_unavailable' });
  });

  test('two payments of one partner share the reservation, and one goes ahead', async () => {
    const partnerId = await newPartner(2);
    const { writers } = newProcess();
    const qrcId = randomUUID();
    const results = await Promise.all([1, 2, 3].map(() => writers[2]!.open(opening(partnerId, { qrcId }))));
    expect(results.map(({ verdict }) => verdict).sort()).toEqual([
      'duplicate_qr_in_flight',
      'duplicate_qr_in_flight',
      'opened',
    ]);
    const [open] = await openOf(qrcId);
    expect(await reservationsOf(qrcId)).toEqual([
      { partner_id: open.partner_id, payment_ids: [open.payment_id] },
    ]);
  });
});

describe('a process dies', () => {
  test('between reserving and opening: the code is free after a sweep, not before two minutes', async () => {
    const [one, other] = [await newPartner(1), await newPartner(2)];
    const { guard, writers } = newProcess();
    const payment = opening(one);
    await guard.reserve(payment);
    clock.advance(1 * minutes);
    await guard.sweep();
    expect(await reservationsOf(payment.qrcId)).toHaveLength(1);
    clock.advance(2 * minutes);
    await guard.sweep();
    expect(await reservationsOf(payment.qrcId)).toEqual([]);
    const next = opening(other, { qrcId: payment.qrcId });
    expect(await writers[2]!.open(next)).toMatchObject({ verdict: 'opened' });
  });

  test('between finishing and freeing: the code is free after a sweep', async () => {
    const one = await newPartner(1);
    const payment = opening(one);
    await newProcess().writers[1]!.open(payment);
    const { paymentId } = payment;
    const unguarded = createPaymentWriter(shards[1]!, clock);
    await unguarded.finish({ partnerId: one, mode: 'live', paymentId, outcome: 'succeeded' });
    expect(await reservationsOf(payment.qrcId)).toHaveLength(1);
    clock.advance(3 * minutes);
    await newProcess().guard.sweep();
    expect(await reservationsOf(payment.qrcId)).toEqual([]);
  });

  test('the sweeper, between its two steps: the next round goes on', async () => {
    const one = await newPartner(3);
    const payment = opening(one);
    const { guard } = newProcess();
    await guard.reserve(payment);
    await shards[3]!.query('SELECT opening_void($1, $2, now())', [
      uuidFromId(one),
      uuidFromId(payment.paymentId),
    ]);
    clock.advance(3 * minutes);
    await guard.sweep();
    expect(await reservationsOf(payment.qrcId)).toEqual([]);
  });
});

describe('the fence', () => {
  test('a process that hung between reserving and opening cannot open after the sweeper', async () => {
    const [one, other] = [await newPartner(1), await newPartner(2)];
    const { guard, writers } = newProcess();
    const payment = opening(one);
    await guard.reserve(payment);
    clock.advance(3 * minutes);
    await newProcess().guard.sweep();
    await writers[2]!.open(opening(other, { qrcId: payment.qrcId }));
    const late = createPaymentWriter(shards[1]!, clock);
    await expect(late.open(opening(one, { ...payment }))).rejects.toThrow(/freed before it was opened/);
    expect(await openOf(payment.qrcId)).toHaveLength(1);
  });

  test('the sweeper leaves the code of a payment that is unfinished, however old', async () => {
    const one = await newPartner(1);
    const payment = opening(one);
    const { guard, writers } = newProcess();
    await writers[1]!.open(payment);
    clock.advance(24 * 60 * minutes);
    await guard.sweep();
    expect(await reservationsOf(payment.qrcId)).toHaveLength(1);
  });

  /** They wait longer for a lock than the test needs to bring two of them to it. */
  const patient = shards.map((_, shard) =>
    world.openSessions({ ...sessionOf(shard, count), lock_timeout: '5500ms' }),
  );
  test.each(['the opening', 'the sweeper'])(
    'one that waits for the account while %s has it: never an open payment without its code',
    async first => {
      const one = await newPartner(1);
      const guard = createCodeGuard(patient, clock);
      const payment = opening(one);
      await guard.reserve(payment);
      clock.advance(3 * minutes);
      const fresh = { ...payment, rateStaleAt: new Date(clock.nowMs() + minutes) };
      const late = () =>
        createPaymentWriter(patient[1]!, clock)
          .open(fresh)
          .then(
            () => true,
            () => false,
          );
      // Both wait for the account; the server serves them in the order in which they came.
      const lock = await shards[1]!.connect();
      await lock.query('BEGIN');
      await lock.query("SELECT FROM accounts WHERE partner_id = $1 AND mode = 'live' FOR UPDATE", [
        uuidFromId(one),
      ]);
      const swept = first === 'the sweeper' ? guard.sweep() : undefined;
      if (swept) await waiting(1);
      const opened = late();
      // After 250 ms it is no longer in a batch, and waits on alone.
      await waiting(swept ? 2 : 1, 700);
      const sweptLater = swept ?? guard.sweep();
      await waiting(2);
      await lock.query('COMMIT');
      lock.release();
      const [isOpen] = await Promise.all([opened, sweptLater]);
      expect(isOpen).toBe(first === 'the opening');
      expect(await openOf(payment.qrcId)).toHaveLength(isOpen ? 1 : 0);
      expect(await reservationsOf(payment.qrcId)).toHaveLength(isOpen ? 1 : 0);
    },
  );

  test('a process that does not know a new shard opens no live payment, and codes move to their new place', async () => {
    const [one, other] = [await newPartner(1), await newPartner(2)];
    const { writers } = newProcess();
    const payment = opening(one, { rateStaleAt: new Date(clock.nowMs() + minutes) });
    await writers[1]!.open(payment);
    await createShard(world.pool, clock);
    const next = opening(other, { rateStaleAt: new Date(clock.nowMs() + minutes) });
    await expect(writers[2]!.open(next)).rejects.toThrow(/the shards have changed/);
    const { rows } = await all.query('SELECT count(*)::int AS n FROM shards');
    expect(rows[0].n).toBe(count + 1);
    const knowing = Array.from({ length: count + 1 }, (_, shard) =>
      world.openSessions(sessionOf(shard, count + 1)),
    );
    const guard = createCodeGuard(knowing, clock);
    expect(await guard.reserve(opening(other, { qrcId: payment.qrcId }))).toBe(false);
    const writer = createPaymentWriter(knowing[2]!, clock, {}, {}, guard);
    expect(await writer.open(next)).toMatchObject({ verdict: 'opened' });
  });
});

test('with the first new shard, the codes of unfinished payments are reserved', async () => {
  const one = await startShardsWorld(1);
  const partnerId = await one.newPartner(0);
  const payment = one.opening(partnerId);
  const alone = createPaymentWriter(one.pool, one.clock);
  expect(await alone.open(payment)).toMatchObject({ verdict: 'opened' });
  await createShard(one.pool, one.clock);
  await expect(alone.open(one.opening(partnerId))).rejects.toThrow(/the shards have changed/);
  const knowing = [0, 1].map(shard => one.openSessions(sessionOf(shard, 2)));
  const other = await one.newPartner(0);
  const guard = createCodeGuard(knowing, one.clock);
  expect(await guard.reserve(one.opening(other, { qrcId: payment.qrcId }))).toBe(false);
});
