import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Statement } from '../../src/db/postgres/pool.ts';
import type { Order } from '../../src/gateway/index.ts';
import { setRate } from '../helpers/api.ts';
import { lateOrdersMs, noNewOrdersMs, startLostWorld } from './lost-world.ts';

/** Tests that leave orders at their bank, or a clock that is far ahead of it, start a world of their own. */
const shared = await startLostWorld();

type World = typeof shared;
type Service = World['before'];
type Qr = Awaited<ReturnType<World['newQr']>>;
type Listing = Service['deps']['gateway']['listOrders'];

const watchEveryMs = 10_000;
const hourMs = 3_600_000;

/** A customer, and a service with a possible loss that has found nothing and has opened. */
async function loseAndOpen(world: World = shared) {
  const { liveKey } = await world.newCustomer();
  const { after } = await world.lose(async () => {});
  await after.isOpenAfter(lateOrdersMs);
  // What earlier tests have paid at this bank was new.
  expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
  return { ...world, liveKey, after };
}

/** An order that the database that has opened does not know. */
async function payAtOriginal({ before, clock, newQr, liveKey }: World & { liveKey: string }, qr?: Qr) {
  const at = qr ?? (await newQr());
  await setRate(before.pool, clock);
  const key = randomUUID();
  const { id, status } = await before.pay(liveKey, at, key);
  expect(status).toBe('succeeded');
  return { id, repeatAt: (service: Service) => service.pay(liveKey, at, key) };
}

/** Counts the lists, and may do something when one is asked for. */
function spyOnLists({ deps: { gateway } }: Service, list: Listing = gateway.listOrders) {
  const listOrders = vi.fn(list);
  return { listOrders, gateway: { ...gateway, listOrders } };
}

const otherProcess = ({ deps: { heartbeat } }: Service) => ({
  heartbeat: { ...heartbeat, instance: heartbeat.instance + 1_000 },
});

describe('a database that has opened after a loss', () => {
  test('closes for an order of an original that was idle, and opens when it is rebuilt', async () => {
    const world = await loseAndOpen();
    const { after, liveKey, newQr, paidOrders } = world;
    expect(await after.isOpenAfter(60_000)).toBe(true);

    const [qr, other] = await Promise.all([newQr(), newQr()]);
    const original = await payAtOriginal(world, qr);
    expect(await after.isOpenAfter(watchEveryMs)).toBe(false);
    expect(await after.alarms()).toContain('foreign_orders');
    expect((await after.pay(liveKey, other)).error.code).toBe('maintenance');

    await after.round();
    await after.poll();
    expect(await original.repeatAt(after)).toMatchObject({ id: original.id, status: 'succeeded' });
    expect((await paidOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id)).toHaveLength(1);
    expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
    expect(await after.alarms()).not.toContain('foreign_orders');
    expect(await after.isOpenAfter(watchEveryMs)).toBe(true);
    await after.expectSoundBooks();
  });

  test('knows an order of its own that is sent while the list is read', async () => {
    const { after, liveKey, newQr } = await loseAndOpen();
    const qr = await newQr();
    const { gateway, listOrders } = spyOnLists(after, async (...args) => {
      await after.pay(liveKey, qr);
      const page = await after.deps.gateway.listOrders(...args);
      expect(page.orders.map(({ qrcId }) => qrcId)).toContain(qr.qrc_id);
      return page;
    });
    expect(await after.isOpenAfter(watchEveryMs, { gateway })).toBe(true);
    expect(listOrders).toHaveBeenCalledOnce();
  });

  test('lists what is new every 10 s, in one process, for an hour', async () => {
    const { after, liveKey, newQr, clock } = await loseAndOpen(await startLostWorld());
    await after.pay(liveKey, await newQr());
    await after.isOpenAfter(watchEveryMs);
    const { orders } = await after.deps.gateway.listOrders(new Date(0));
    const newestMs = Math.max(...orders.map(({ createdAt }) => createdAt.getTime()));

    const { gateway, listOrders } = spyOnLists(after);
    const other = { gateway, ...otherProcess(after) };
    await after.round({ gateway });
    await clock.advance(watchEveryMs);
    await Promise.all([after.round({ gateway }), after.round(other)]);
    await after.round(other);
    expect(listOrders).toHaveBeenCalledOnce();
    expect(listOrders.mock.calls[0]![0].getTime()).toBe(newestMs - 15_000);

    for (const ms of [hourMs, watchEveryMs]) {
      await after.isOpenAfter(ms, other);
      expect(listOrders).toHaveBeenCalledTimes(2);
    }
  });

  test('reads a long list in parts', async () => {
    const { after } = await loseAndOpen();
    let next = 0;
    const endless = spyOnLists(after, async () => ({ orders: [], nextCursor: `${++next}` }));
    await after.isOpenAfter(watchEveryMs, endless);
    expect(endless.listOrders).toHaveBeenCalledTimes(100);
    // That was no complete list, so another follows at once.
    const whole = spyOnLists(after);
    await after.round(whole);
    await after.round(whole);
    expect(whole.listOrders).toHaveBeenCalledOnce();
  });

  test('stays open without a list, with an alarm after a minute, and is watched until there is one', async () => {
    const world = await loseAndOpen(await startLostWorld());
    const { after } = world;
    const broken = spyOnLists(after, () => Promise.reject(new Error('no list')));
    await after.isOpenAfter(watchEveryMs, broken);
    expect(await after.alarms()).not.toContain('history_watch_waits');
    expect(await after.isOpenAfter(hourMs, broken)).toBe(true);
    expect(await after.alarms()).toContain('history_watch_waits');

    await payAtOriginal(world);
    expect(await after.isOpenAfter()).toBe(false);
    expect(await after.alarms()).not.toContain('history_watch_waits');
  });

  test('that is lost again is listed from its last complete list', async () => {
    const { after, clock } = await loseAndOpen(await startLostWorld());
    const listedMs = clock.nowMs();
    await clock.advance(30 * 60_000);
    await after.pool.query('INSERT INTO process_beats (instance, at, synchronous) VALUES (0, $1, false)', [
      new Date(clock.nowMs()),
    ]);
    await after.join();
    const { rows } = await after.pool.query<{ certain_at: Date }>(
      'SELECT certain_at FROM incarnations ORDER BY number DESC LIMIT 1',
    );
    expect(rows[0]!.certain_at.getTime()).toBeLessThanOrEqual(listedMs);
  });

  test('and was new before is not watched', async () => {
    const { listOrders, gateway } = spyOnLists(shared.before);
    await shared.before.round({ gateway });
    expect(listOrders).not.toHaveBeenCalled();
  });
});

test('a process that dies after it has closed the database is followed by another one', async () => {
  const world = await loseAndOpen();
  const { after } = world;
  const original = await payAtOriginal(world);
  const alarms = { ...after.deps.alarms, raise: () => Promise.reject(new Error('killed')) };
  await expect(after.isOpenAfter(watchEveryMs, { alarms })).rejects.toThrow('killed');
  expect(await after.isOpen()).toBe(false);

  await after.isOpenAfter(10_001, otherProcess(after));
  expect((await original.repeatAt(after)).id).toBe(original.id);
  expect(await after.alarms()).toContain('foreign_orders');
  expect(await after.isOpenAfter(noNewOrdersMs, otherProcess(after))).toBe(true);
});

test('an alarm that could not be stored at the closing is raised by the recovery', async () => {
  const world = await startLostWorld();
  const { liveKey } = await world.newCustomer();
  const { after } = await world.lose(async () => {});
  await after.isOpenAfter(lateOrdersMs);
  await payAtOriginal({ ...world, liveKey });
  const alarms = { ...after.deps.alarms, raise: () => Promise.resolve(false) };
  expect(await after.isOpenAfter(watchEveryMs, { alarms })).toBe(false);
  expect(await after.alarms()).not.toContain('foreign_orders');
  await after.round();
  expect(await after.alarms()).toContain('foreign_orders');
});

test('a process that finds an order and dies before it closes leaves it to the next list', async () => {
  const world = await loseAndOpen();
  const { after } = world;
  await payAtOriginal(world);
  const { db } = after.deps;
  const query = (statement: Statement) =>
    /closed_at = /.test(statement.text) ? Promise.reject(new Error('killed')) : db.query(statement);
  await expect(after.isOpenAfter(watchEveryMs, { db: { query } as typeof db })).rejects.toThrow('killed');
  expect(await after.isOpen()).toBe(true);
  expect(await after.isOpenAfter(10_001, otherProcess(after))).toBe(false);
});

test('an order that was set aside does not close the database once more', async () => {
  const world = await loseAndOpen(await startLostWorld());
  const { after } = world;
  const qr = await world.newQr();
  await qr.fault({ on: 'pay', kind: 'without_reference' });
  await payAtOriginal(world, qr);
  expect(await after.isOpenAfter(watchEveryMs)).toBe(false);
  await after.round();
  expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
  for (let lists = 0; lists < 3; lists++) expect(await after.isOpenAfter(watchEveryMs)).toBe(true);
  expect(await after.alarms()).toContain('stray_order');
});

test('nor does the order of a payment that was rejected here', async () => {
  const { after, liveKey, newQr, clock } = await loseAndOpen(await startLostWorld());
  const sent: Order[] = [];
  vi.spyOn(after.deps.gateway, 'pay').mockImplementation(async order => {
    sent.push(order);
    return { outcome: 'refused', code: 'gateway_busy' };
  });
  expect((await after.pay(liveKey, await newQr())).error.code).toBe('gateway_busy');

  // Against its contract the bank side has the order that it had refused.
  const made = { orderId: 'refused', state: 'succeeded', createdAt: new Date(clock.nowMs()) };
  const orders = sent.map(order => ({ ...order, ...made, operationNumber: null }));
  const { gateway, listOrders } = spyOnLists(after, async () => ({ orders, nextCursor: null }));
  expect(await after.isOpenAfter(watchEveryMs, { gateway })).toBe(true);
  expect(listOrders).toHaveBeenCalledOnce();
});
