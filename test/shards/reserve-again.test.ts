import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import type { HistoryDeps } from '../../src/payments/lost-history/deps.ts';
import { recoverRound } from '../../src/payments/lost-history/recover-history.ts';
import { startShardsWorld } from './shards-world.ts';

const world = await startShardsWorld(3);
const { pool, all, clock, newPartner, newProcess, opening } = world;

const isReserved = async (paymentId: Parameters<typeof uuidFromId>[0]) =>
  (
    await all.query('SELECT FROM code_reservations WHERE $1::uuid = ANY (payment_ids)', [
      uuidFromId(paymentId),
    ])
  ).rowCount === 1;

const isOpen = async () =>
  (await pool.query('SELECT FROM incarnations WHERE opened_at IS NULL')).rowCount === 0;

test('an incarnation opens when the codes of unfinished payments are reserved', async () => {
  const { guard, writers } = newProcess();
  const unfinished = [];
  for (const shard of [0, 1, 2])
    for (let nth = 0; nth < 5; nth++) {
      const payment = opening(await newPartner(shard));
      await writers[shard]!.open(payment);
      unfinished.push(payment);
    }
  const [kept, ...others] = unfinished;
  // As a node that has lost its last commits.
  for (const shard of [0, 1, 2])
    await world.shards[shard]!.query('DELETE FROM code_reservations WHERE payment_ids <> $1', [
      [uuidFromId(kept!.paymentId)],
    ]);
  await pool.query(
    `INSERT INTO incarnations (number, system_identifier, timeline, cause, began_at, certain_at, is_synchronous,
                               last_event_id, next_event_id)
       VALUES (1000, '1', 1, 'promotion', $1, $1, false, 0, 1)`,
    [new Date(clock.nowMs())],
  );
  const deps = {
    db: all,
    clock,
    codeGuard: guard,
    gateway: { listOrders: async () => ({ orders: [], nextCursor: null }) },
    alarms: { raise: async () => {}, clear: async () => {} },
    heartbeat: { instance: 1 },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  } as unknown as HistoryDeps;
  // Orders of the lost history may still arrive, and payments be opened whose code was reserved there.
  await recoverRound(deps);
  expect(await isOpen()).toBe(false);
  clock.advance(21_000);
  await recoverRound(deps);
  expect(await isOpen()).toBe(true);
  for (const { paymentId } of [kept!, ...others]) expect(await isReserved(paymentId)).toBe(true);
});

test('a code that its partner does not need any more stays free', async () => {
  const { guard, writers } = newProcess();
  const partnerId = await newPartner(1);
  const payment = opening(partnerId);
  await writers[1]!.open(payment);
  await writers[1]!.finish({ partnerId, mode: 'live', paymentId: payment.paymentId, outcome: 'succeeded' });
  await expect.poll(() => isReserved(payment.paymentId)).toBe(false);
  await guard.reserveAgain();
  expect(await isReserved(payment.paymentId)).toBe(false);
});
