import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Statement } from '../../src/db/postgres/pool.ts';
import type { Order } from '../../src/gateway/index.ts';
import { setRate } from '../helpers/api.ts';
import { lateOrdersMs, noNewOrdersMs, startLostWorld } from './lost-world.ts';

/** Tests that leave orders at their bank, or a clock that is far ahead of it, start a world of their own. */
const world = await startLostWorld();
const { clock, before, newCustomer, newQr, paidOrders } = world;

type World = typeof world;
type Service = World['before'];
type Listing = Service['deps']['gateway']['listOrders'];

const watchEveryMs = 10_000;
const hourMs = 3_600_000;

/** A service with a possible loss that has found nothing and has opened. */
async function loseAndOpen({ lose, clock }: Pick<World, 'lose' | 'clock'>): Promise<Service> {
  const { after } = await lose(async () => {});
  clock.advance(lateOrdersMs);
  await after.round();
  // What earlier tests have paid at this bank was new.
  clock.advance(noNewOrdersMs);
  await after.round();
  expect(await after.isOpen()).toBe(true);
  return after;
}

/** An order that the database that has opened does not know. */
async function payAtOriginal(
  { before, clock, newQr }: World,
  key: string,
  at?: Awaited<ReturnType<World['newQr']>>,
) {
  const { link } = at ?? (await newQr());
  await setRate(before.pool, clock);
  const idempotencyKey = randomUUID();
  const { json } = await before.as(key).pay({ qr_url: link }, idempotencyKey);
  expect(json.status).toBe('succeeded');
  return { id: json.id as string, request: [{ qr_url: link }, idempotencyKey] as const };
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
    const { liveKey } = await newCustomer();
    const after = await loseAndOpen(world);
    clock.advance(60_000);
    await after.round();
    expect(await after.isOpen()).toBe(true);

    const [qr, other] = await Promise.all([newQr(), newQr()]);
    const original = await payAtOriginal(world, liveKey, qr);
    clock.advance(watchEveryMs);
    await after.round();
    expect(await after.isOpen()).toBe(false);
    expect(await after.alarms()).toContain('foreign_orders');
    expect((await after.as(liveKey).pay({ qr_url: other.link })).json.error.code).toBe('maintenance');

    await after.round();
    await after.poll();
    expect((await after.as(liveKey).pay(...original.request)).json).toMatchObject({
      id: original.id,
      status: 'succeeded',
    });
    expect((await paidOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id)).toHaveLength(1);
    clock.advance(noNewOrdersMs);
    await after.round();
    expect(await after.isOpen()).toBe(true);
    expect(await after.alarms()).not.toContain('foreign_orders');
    clock.advance(watchEveryMs);
    await after.round();
    expect(await after.isOpen()).toBe(true);
    await after.expectSoundBooks();
  });

  test('knows an order of its own that is sent while the list is read', async () => {
    const { liveKey } = await newCustomer();
    const after = await loseAndOpen(world);
    const qr = await newQr();
    const { gateway, listOrders } = spyOnLists(after, async (...args) => {
      await after.as(liveKey).pay({ qr_url: qr.link });
      const page = await after.deps.gateway.listOrders(...args);
      expect(page.orders.map(({ qrcId }) => qrcId)).toContain(qr.qrc_id);
      return page;
    });
    clock.advance(watchEveryMs);
    await after.round({ gateway });
    expect(listOrders).toHaveBeenCalledOnce();
    expect(await after.isOpen()).toBe(true);
  });

  test('lists what is new every 10 s, in one process, for an hour', async () => {
    const world = await startLostWorld();
    const { clock, newCustomer, newQr } = world;
    const { liveKey } = await newCustomer();
    const after = await loseAndOpen(world);
    await after.as(liveKey).pay({ qr_url: (await newQr()).link });
    clock.advance(watchEveryMs);
    await after.round();
    const newestMs = Math.max(
      ...(await after.deps.gateway.listOrders(new Date(0))).orders.map(({ createdAt }) =>
        createdAt.getTime(),
      ),
    );

    const { gateway, listOrders } = spyOnLists(after);
    const other = otherProcess(after);
    await after.round({ gateway });
    clock.advance(watchEveryMs);
    await Promise.all([after.round({ gateway }), after.round({ gateway, ...other })]);
    await after.round({ gateway, ...other });
    expect(listOrders).toHaveBeenCalledOnce();
    expect(listOrders.mock.calls[0]![0].getTime()).toBe(newestMs - 15_000);

    clock.advance(hourMs);
    await after.round({ gateway, ...other });
    expect(listOrders).toHaveBeenCalledTimes(2);
    clock.advance(watchEveryMs);
    await after.round({ gateway, ...other });
    expect(listOrders).toHaveBeenCalledTimes(2);
  });

  test('reads a long list in parts', async () => {
    const after = await loseAndOpen(world);
    let next = 0;
    const endless = spyOnLists(after, async () => ({ orders: [], nextCursor: `${++next}` }));
    clock.advance(watchEveryMs);
    await after.round(endless);
    expect(endless.listOrders).toHaveBeenCalledTimes(100);
    // That was no complete list, so another follows at once.
    const whole = spyOnLists(after);
    await after.round(whole);
    await after.round(whole);
    expect(whole.listOrders).toHaveBeenCalledOnce();
  });

  test('stays open without a list, with an alarm after a minute, and is watched until there is one', async () => {
    const world = await startLostWorld();
    const { clock, newCustomer } = world;
    const { liveKey } = await newCustomer();
    const after = await loseAndOpen(world);
    const broken = spyOnLists(after, () => Promise.reject(new Error('no list')));
    clock.advance(watchEveryMs);
    await after.round(broken);
    expect(await after.alarms()).not.toContain('history_watch_waits');
    clock.advance(hourMs);
    await after.round(broken);
    expect(await after.alarms()).toContain('history_watch_waits');
    expect(await after.isOpen()).toBe(true);

    await payAtOriginal(world, liveKey);
    await after.round();
    expect(await after.isOpen()).toBe(false);
    expect(await after.alarms()).not.toContain('history_watch_waits');
  });

  test('that is lost again is listed from its last complete list', async () => {
    const world = await startLostWorld();
    const { clock } = world;
    const after = await loseAndOpen(world);
    const listedMs = clock.nowMs();
    clock.advance(30 * 60_000);
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
    const { listOrders, gateway } = spyOnLists(before);
    await before.round({ gateway });
    expect(listOrders).not.toHaveBeenCalled();
  });
});

test('a process that dies after it has closed the database is followed by another one', async () => {
  const { liveKey } = await newCustomer();
  const after = await loseAndOpen(world);
  const original = await payAtOriginal(world, liveKey);
  clock.advance(watchEveryMs);
  const dying = { raise: () => Promise.reject(new Error('killed')) };
  await expect(after.round({ alarms: { ...after.deps.alarms, ...dying } })).rejects.toThrow('killed');
  expect(await after.isOpen()).toBe(false);

  clock.advance(10_001);
  await after.round(otherProcess(after));
  expect((await after.as(liveKey).pay(...original.request)).json.id).toBe(original.id);
  expect(await after.alarms()).toContain('foreign_orders');
  clock.advance(noNewOrdersMs);
  await after.round(otherProcess(after));
  expect(await after.isOpen()).toBe(true);
});

test('an alarm that could not be stored at the closing is raised by the recovery', async () => {
  const world = await startLostWorld();
  const { liveKey } = await world.newCustomer();
  const { after } = await world.lose(async () => {});
  world.clock.advance(lateOrdersMs);
  await after.round();
  await payAtOriginal(world, liveKey);
  world.clock.advance(watchEveryMs);
  await after.round({ alarms: { ...after.deps.alarms, raise: () => Promise.resolve(false) } });
  expect(await after.isOpen()).toBe(false);
  expect(await after.alarms()).not.toContain('foreign_orders');
  await after.round();
  expect(await after.alarms()).toContain('foreign_orders');
});

test('a process that finds an order and dies before it closes leaves it to the next list', async () => {
  const { liveKey } = await newCustomer();
  const after = await loseAndOpen(world);
  await payAtOriginal(world, liveKey);
  clock.advance(watchEveryMs);
  const { db } = after.deps;
  const query = (statement: Statement) =>
    /closed_at = /.test(statement.text) ? Promise.reject(new Error('killed')) : db.query(statement);
  await expect(after.round({ db: { query } as typeof db })).rejects.toThrow('killed');
  expect(await after.isOpen()).toBe(true);
  clock.advance(10_001);
  await after.round(otherProcess(after));
  expect(await after.isOpen()).toBe(false);
});

test('an order that was set aside does not close the database once more', async () => {
  const world = await startLostWorld();
  const { liveKey } = await world.newCustomer();
  const after = await loseAndOpen(world);
  const qr = await world.newQr();
  await qr.fault({ on: 'pay', kind: 'without_reference' });
  await payAtOriginal(world, liveKey, qr);
  world.clock.advance(watchEveryMs);
  await after.round();
  expect(await after.isOpen()).toBe(false);
  await after.round();
  world.clock.advance(noNewOrdersMs);
  await after.round();
  expect(await after.isOpen()).toBe(true);
  for (let lists = 0; lists < 3; lists++) {
    world.clock.advance(watchEveryMs);
    await after.round();
  }
  expect(await after.isOpen()).toBe(true);
  expect(await after.alarms()).toContain('stray_order');
});

test('nor does the order of a payment that was rejected here', async () => {
  const world = await startLostWorld();
  const { liveKey } = await world.newCustomer();
  const after = await loseAndOpen(world);
  const sent: Order[] = [];
  vi.spyOn(after.deps.gateway, 'pay').mockImplementation(async order => {
    sent.push(order);
    return { outcome: 'refused', code: 'gateway_busy' };
  });
  const refused = await after.as(liveKey).pay({ qr_url: (await world.newQr()).link });
  expect(refused.json.error.code).toBe('gateway_busy');

  // Against its contract the bank side has the order that it had refused.
  const orders = sent.map(order => ({
    ...order,
    orderId: 'refused',
    state: 'succeeded',
    createdAt: new Date(world.clock.nowMs()),
  }));
  const { gateway, listOrders } = spyOnLists(after, async () => ({ orders, nextCursor: null }));
  world.clock.advance(watchEveryMs);
  await after.round({ gateway });
  expect(listOrders).toHaveBeenCalledOnce();
  expect(await after.isOpen()).toBe(true);
});
