import { describe, expect, test, vi } from 'vitest';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, timeOfId } from '../../src/base/ids.ts';
import type { Gateway, ListedOrder } from '../../src/gateway/index.ts';
import { startReconciler } from '../../src/payments/index.ts';
import { reconcile } from '../../src/payments/reconciliation/reconcile.ts';
import { reconcileRecent } from '../../src/payments/reconciliation/reconciler.ts';
import { kopeck } from '../helpers/cli.ts';
import { folderWithKey } from '../helpers/folders.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { listed, startReconcileWorld } from './reconcile-world.ts';

const { pool, url, simulator, deps, customer, pay, made, minutesAgo, around, compareWith, later } =
  await startReconcileWorld();

const expected = () =>
  [
    ['amounts_differ', made.wrongAmount, 'processing', 'succeeded'],
    ['here_not_there', made.neverThere, 'succeeded', null],
    ['paid_there_not_here', made.failedHere, 'failed', 'succeeded'],
    ['paid_there_not_here', made.unknownHere, null, 'succeeded'],
    ['still_open', made.open, 'processing', 'accepted'],
  ].toSorted();

describe('reconcile', () => {
  test('finds what differs, of each kind, and nothing else', async () => {
    const { differences, orders, payments } = await reconcile(deps, 'test', around());
    const found = differences.map(one => [one.kind, one.paymentId, one.status, one.orderState]);
    expect(found.toSorted()).toEqual(expected());
    expect([orders, payments]).toEqual([6n, 6n]);
    const { rows } = await pool.query('SELECT * FROM reconciliations ORDER BY id DESC LIMIT 1');
    expect(rows[0]).toMatchObject({ actor: 'test', orders: 6n, payments: 6n, finished_at: expect.any(Date) });
    expect(rows[0].differences).toHaveLength(5);
    expect((await pool.query('SELECT FROM listed_orders')).rowCount).toBe(0);
  });

  test('a period without any of them is in order', async () => {
    const period = { from: minutesAgo(60), until: minutesAgo(30) };
    const nothing = { orders: 0n, payments: 0n, differences: [] };
    expect(await reconcile(deps, 'test', period)).toMatchObject(nothing);
  });

  test('reads page after page, and takes the second of two paid orders for one payment as not ours', async () => {
    const twice = await pay();
    const { orders } = (await simulator.call('GET', '/orders?limit=1000')).body;
    const listed: ListedOrder[] = orders.map((order: Record<string, string>) => ({
      paymentId: order.payment_id,
      orderId: order.order_id,
      state: order.state,
      amountKopecks: BigInt(order.amount_kopecks!),
      createdAt: new Date(order.created_at!),
      reference: order.reference!,
      operationNumber: null,
    }));
    const again = { ...listed.find(({ paymentId }) => paymentId === twice)!, orderId: 'ord_again' };
    const pages = [...listed, again].map(order => [order]);
    const listOrders: Gateway['listOrders'] = async (_since, cursor = '0') => ({
      orders: pages[Number(cursor)]!,
      nextCursor: Number(cursor) + 1 < pages.length ? `${Number(cursor) + 1}` : null,
    });
    const { differences } = await compareWith(listOrders);
    expect(differences).toHaveLength(6);
    expect(differences).toContainEqual(
      expect.objectContaining({ kind: 'paid_there_not_here', paymentId: twice, status: 'succeeded' }),
    );
  });

  const sameOrders = (createdAt: Date) => [0, 1].map(nth => listed({ orderId: `ord_${nth}`, createdAt }));
  test.each<[string, ListedOrder[], pages: number, nextCursor?: string]>([
    ['names a cursor twice', [listed()], 2, 'again'],
    ['goes on without orders', [], 1],
    ['repeats orders of the period under new cursors', sameOrders(new Date()), 2],
    ['repeats orders from before it under new cursors', sameOrders(minutesAgo(15)), 2],
  ])('a list that %s is refused', async (_case, orders, pages, nextCursor) => {
    const listOrders = vi.fn<Gateway['listOrders']>(async (_since, cursor = '0') => ({
      orders,
      nextCursor: nextCursor ?? `${Number(cursor) + 1}`,
    }));
    await expect(compareWith(listOrders)).rejects.toThrow('has no end');
    expect(listOrders).toHaveBeenCalledTimes(pages);
    expect((await pool.query('SELECT FROM listed_orders')).rowCount).toBe(0);
  });

  test('the same order twice, one with an odd id, and one from the future', async () => {
    const orders = [
      listed({ orderId: 'ord_twice' }),
      listed({ orderId: 'ord_twice' }),
      listed({ orderId: 'ord_odd', paymentId: 'pay_00000000000000000000000000' }),
      listed({ orderId: 'ord_future', createdAt: new Date(clock.nowMs() + 10 * 86_400_000) }),
    ];
    const { differences } = await compareWith(async (since, cursor) =>
      cursor ? deps.gateway.listOrders(since) : { orders, nextCursor: 'the rest' },
    );
    const unexpected = differences.filter(({ orderId }) => orders.some(order => order.orderId === orderId));
    expect(unexpected.map(({ kind, orderId }) => [kind, orderId]).toSorted()).toEqual([
      ['paid_there_not_here', 'ord_odd'],
      ['paid_there_not_here', 'ord_twice'],
    ]);
    expect(differences).toHaveLength(7);
  });

  test('a payment that is being created is no difference', async () => {
    let late: Id<'pay'> | undefined;
    const { differences } = await compareWith(async (since, cursor) => {
      const page = await deps.gateway.listOrders(since, cursor);
      // Between the reads of the two sides, but only in the first comparison.
      late ??= await pay();
      return page;
    });
    expect(differences.map(({ paymentId }) => paymentId)).not.toContain(late);
    expect(differences).toHaveLength(5);
  });
});

describe('the hourly run', () => {
  const alarmsNow = async () =>
    (await listAlarms(pool, { cleared: false }))
      .filter(({ kind }) => kind.startsWith('reconciliation'))
      .map(({ kind, subject, times }) => [kind, subject, times]);
  const dayMs = 86_400_000;

  test('raises one alarm per difference however often it finds it, and keeps it when it gets old', async () => {
    await reconcileRecent(deps);
    await reconcileRecent(deps);
    const off = [made.wrongAmount, made.neverThere, made.failedHere, made.unknownHere];
    const expectedAlarms = off.map(id => ['reconciliation_differs', id, 2]).toSorted();
    expect((await alarmsNow()).toSorted()).toEqual(expectedAlarms);
    await pool.query(`UPDATE reconciliations SET differences = '[]'`);
    await reconcileRecent(later(2 * dayMs));
    await reconcileRecent(later(4 * dayMs));
    expect((await alarmsNow()).map(([, subject]) => subject)).toHaveLength(4);
  });

  test('starts with the oldest payment that was open in the last run', async () => {
    await pool.query('DELETE FROM reconciliations');
    await reconcileRecent(deps);
    await reconcileRecent(later(2 * dayMs));
    const { rows } = await pool.query('SELECT from_at FROM reconciliations ORDER BY id DESC LIMIT 1');
    expect(rows[0].from_at.getTime()).toBe(timeOfId(made.open!));
    await pool.query('DELETE FROM reconciliations');
  });

  test('a difference that is gone ends its alarm', async () => {
    const fine = await pay();
    const alarms = createAlarms({ db: pool, clock, log: deps.log });
    await alarms.raise({ kind: 'reconciliation_differs', subject: fine, detail: 'an earlier difference' });
    await reconcileRecent(deps);
    expect((await alarmsNow()).map(([, subject]) => subject)).not.toContain(fine);
    await pool.query(`UPDATE alarms SET cleared_at = now(), cleared_by = 'test' WHERE cleared_at IS NULL`);
    await pool.query('DELETE FROM reconciliations');
  });

  test('runs once an hour over all processes, and soon again when the gateway gave no list', async () => {
    let nowMs = clock.nowMs();
    const waits: (() => void)[] = [];
    const turned = {
      ...clock,
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>(done => {
          waits.push(done);
          signal?.addEventListener('abort', () => done());
        }),
    };
    const listOrders = vi.fn<Gateway['listOrders']>(async () => ({ orders: [], nextCursor: null }));
    const error = vi.fn();
    const one = {
      ...deps,
      clock: turned,
      alarms: createAlarms({ db: pool, clock: turned, log: deps.log }),
      gateway: { ...deps.gateway, listOrders },
      log: { error },
    };
    const bothAsleep = () => expect.poll(() => waits).toHaveLength(2);
    const pass = async (ms: number) => {
      nowMs += ms;
      for (const wake of waits.splice(0)) wake();
      await bothAsleep();
    };
    await pool.query(`UPDATE service SET reconciled_at = NULL`);
    // The list has no order of the last day: it differs, and is compared twice.
    const period = () => listOrders.mock.calls.splice(0).length;
    nowMs -= 7 * 86_400_000;
    const stops = [startReconciler(one), startReconciler(one)];
    await bothAsleep();
    expect(period()).toBe(1);
    await pass(3_599_999);
    expect(period()).toBe(0);
    await pass(1);
    expect(period()).toBe(1);
    listOrders.mockRejectedValueOnce(new Error('no list'));
    await pass(3_600_000);
    const [failed] = await alarmsNow();
    expect([period(), failed?.[0], error.mock.calls.length]).toEqual([1, 'reconciliation_failed', 1]);
    await pass(300_000);
    expect([period(), await alarmsNow()]).toEqual([1, []]);
    await Promise.all(stops.map(stop => stop()));
  });
});

describe('kopeck reconcile', () => {
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folderWithKey(),
    GATEWAY_URL: simulator.address,
    RATE_SOURCES: 'fixed:92.50',
  };
  const today = new Date().toISOString().slice(0, 10);

  test('lists the differences and exits with 1', async () => {
    const people = await kopeck(env, 'reconcile');
    expect(people).toMatchObject({ code: 1 });
    expect(people.stdout).toMatch(
      /Paid at the gateway, not here: 2\n.*Paid here, not at the gateway: 1\n.*Different amounts: 1\n.*Still processing: 1\n/s,
    );
    const machines = await kopeck(env, 'reconcile', '--day', today, '--json');
    const found = JSON.parse(machines.stdout);
    expect([machines.code, found.ok, found.day]).toEqual([1, false, today]);
    expect(found.amounts_differ).toEqual([
      {
        ...{ kind: 'amounts_differ', payment_id: made.wrongAmount, partner_id: customer.partnerId },
        ...{ status: 'processing', amount_kopecks: 15_000 },
        ...{ order_id: expect.stringMatching(/^ord_/), order_state: 'succeeded', order_kopecks: 15_001 },
      },
    ]);
  });

  test('a day with more differences than a run lists says so', async () => {
    const bank = await startLocalServer();
    const many = Array.from({ length: 1_000 }, (_, nth) => ({
      ...{ payment_id: `unknown-${nth}`, order_id: `ord-${nth}`, state: 'succeeded' },
      ...{ amount_kopecks: 100, created_at: '2020-03-01T12:00:00Z' },
    }));
    bank.answerWith({ orders: many, refunds: [], next_cursor: null });
    const there = { ...env, GATEWAY_URL: bank.url };
    const people = await kopeck(there, 'reconcile', '--day', '2020-03-01');
    expect(people.stdout).toContain('This list is incomplete: there are more discrepancies.');
    const machines = await kopeck(there, 'reconcile', '--day', '2020-03-01', '--json');
    expect(JSON.parse(machines.stdout)).toMatchObject({ ok: false, is_complete: false });
  });

  test('a day without differences exits with 0; errors for a wrong day or no gateway say what to do', async () => {
    const fine = await kopeck(env, 'reconcile', '--day', '2020-02-29');
    expect(fine).toEqual({
      code: 0,
      stdout: '2020-02-29: no discrepancies (0 payments, 0 orders).\n',
      stderr: '',
    });
    expect(await kopeck(env, 'reconcile', '--day', '2021-02-29')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('It must be a day such as'),
    });
    const alone = await kopeck({ ...env, GATEWAY_URL: 'http://127.0.0.1:1' }, 'reconcile');
    expect(alone).toMatchObject({ code: 1, stdout: '' });
    expect(alone.stderr).toMatch(/^The payment gateway returned no list of orders \(.*\): .*\n$/);
  });
});

const subjects = async () => (await listAlarms(pool, { cleared: false })).map(({ subject }) => subject);

test('more differences than a run keeps: no alarm ends, and the next run starts no later', async () => {
  await reconcileRecent(deps);
  const before = await subjects();
  expect(before).toContain(made.unknownHere);
  // They come before the order of that alarm, so the list of differences ends before it.
  const many = Array.from({ length: 1_000 }, (_, nth) =>
    listed({ orderId: `a-${nth}`, createdAt: minutesAgo(1) }),
  );
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
