import { expect, test } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { systemClock as clock } from '../../src/base/clock.ts';
import { timeOfId } from '../../src/base/ids.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { reconcileRecent } from '../../src/payments/reconciliation/reconciler.ts';
import { listed, startReconcileWorld } from './reconcile-world.ts';

const { pool, deps, made, minutesAgo, compareWith, later } = await startReconcileWorld();
const subjects = async () => (await listAlarms(pool, { cleared: false })).map(({ subject }) => subject);

test('more differences than a run keeps: no alarm ends, and the next run starts no later', async () => {
  await reconcileRecent(deps);
  const before = await subjects();
  expect(before).toContain(made.unknownHere);
  // They come before the order of that alarm, so the list of differences ends before it.
  const many = Array.from({ length: 1_000 }, (_, nth) => listed({ orderId: `a-${nth}` }));
  const listOrders: Gateway['listOrders'] = async (since, cursor) =>
    cursor ? deps.gateway.listOrders(since) : { orders: many, nextCursor: 'the rest' };
  await reconcileRecent({ ...deps, gateway: { ...deps.gateway, listOrders } });
  expect(await subjects()).toEqual(expect.arrayContaining(before));

  await reconcileRecent(later(2 * 86_400_000));
  const { rows } = await pool.query('SELECT from_at FROM reconciliations ORDER BY id DESC LIMIT 1');
  expect(rows[0].from_at.getTime()).toBeLessThanOrEqual(timeOfId(made.open!));
});

test('a list that takes longer than ten minutes is read to its end', async () => {
  let nowMs = clock.nowMs();
  const slow = { ...deps.clock, nowMs: () => nowMs };
  const listOrders: Gateway['listOrders'] = async (_since, cursor = '0') => {
    nowMs += 4 * 60_000;
    const nth = Number(cursor);
    return { orders: [listed({ orderId: `ord_${nth}` })], nextCursor: nth < 5 ? `${nth + 1}` : null };
  };
  expect(await compareWith(listOrders, slow)).toMatchObject({ orders: 6n });
});

test.each([
  ['of the period', new Date()],
  ['from before it', minutesAgo(15)],
])('a list that repeats orders %s under new cursors is refused', async (_which, createdAt) => {
  let pages = 0;
  const listOrders: Gateway['listOrders'] = async (_since, cursor = '0') => {
    pages += 1;
    if (pages > 100) return { orders: [], nextCursor: null };
    const orders = [0, 1].map(nth => listed({ orderId: `ord_${nth}`, createdAt }));
    return { orders, nextCursor: `${Number(cursor) + 1}` };
  };
  await expect(compareWith(listOrders)).rejects.toThrow('has no end');
  expect(pages).toBe(2);
});
