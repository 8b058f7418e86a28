import { randomUUID } from 'node:crypto';
import { test as base, describe, expect } from 'vitest';
import type { Pool, Queryable } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import { releaseStray } from '../../src/payments/index.ts';
import { codeOf } from '../helpers/api.ts';
import { auditContextOf } from '../helpers/database.ts';
import { lateOrdersMs, noNewOrdersMs, startLostWorld } from './lost-world.ts';

/** An order that cannot be rebuilt stays at its bank, so a test of one starts a world of its own. */
const { before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();
const test = base.extend('liveKey', async () => (await newCustomer()).liveKey);

describe('payments that the database has forgotten', () => {
  test('are rebuilt with their ids, and a repeat finds them instead of paying again', async ({ liveKey }) => {
    const [paid, declined, slow] = await Promise.all([newQr(), newQr(), newQr()]);
    await declined.fault({ on: 'pay', kind: 'decline', reason: 'LIMIT_EXCEEDED' });
    await slow.fault({ on: 'pay', kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded' });
    const requests = [paid, declined, slow].map((qr, nth): [object, string] => [
      { qr_url: qr.link, external_id: `order-${nth}`, metadata: { nth } },
      randomUUID(),
    ]);
    const { after, result } = await lose(() =>
      Promise.all(requests.map(request => before.as(liveKey).pay(...request))),
    );
    expect(result.map(({ json }) => json.status)).toEqual(['succeeded', 'failed', 'processing']);

    const partner = after.as(liveKey);
    expect(codeOf(await partner.pay(...requests[0]!))).toBe('503 maintenance');

    await after.round();
    await after.poll();
    for (const [nth, request] of requests.entries()) {
      const { id, rate, amount_usdt, created_at, status, external_id, metadata } = result[nth]!.json;
      const repeat = await partner.pay(...request);
      expect(repeat.json).toMatchObject({ id, rate, amount_usdt, created_at, status, external_id, metadata });
    }
    expect(await after.isOpen()).toBe(false);
    expect(await after.isOpenAfter(lateOrdersMs)).toBe(true);
    expect((await paidOrders()).filter(({ qrc_id }) => qrc_id === paid.qrc_id)).toHaveLength(1);

    const balanceOf = async (service: typeof after) =>
      (await service.as(liveKey).get('/v1/balance')).json.balance_usdt;
    expect(await balanceOf(after)).toBe(await balanceOf(before));
    const { rows } = await after.pool.query('SELECT order_state FROM recovered_payments ORDER BY 1');
    expect(rows.map(({ order_state }) => order_state)).toEqual(['accepted', 'declined', 'succeeded']);
    await after.expectSoundBooks();
  });

  test('no payment is accepted before late orders can have arrived', async ({ liveKey }) => {
    const { after } = await lose(async () => {});
    await after.round();
    await after.isOpenAfter(lateOrdersMs - 1_000);
    const [qr, key] = [await newQr(), randomUUID()];
    expect((await after.pay(liveKey, qr)).error.code).toBe('maintenance');

    // A process that had not noticed yet: its order arrives in the last moment.
    const late = await before.pay(liveKey, qr, key);
    expect(await after.isOpenAfter(1_000)).toBe(false);
    expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
    expect((await after.pay(liveKey, qr, key)).id).toBe(late.id);
  });

  test('a synchronous standby has forgotten nothing: it opens with the first list', async ({ liveKey }) => {
    const { after } = await lose(async () => {});
    await after.pool.query('UPDATE incarnations SET is_synchronous = true');
    expect(await after.isOpenAfter()).toBe(true);
    expect((await after.pay(liveKey, await newQr())).status).toBe('succeeded');
  });

  test('numbers that were given out are not given out again', async ({ liveKey }) => {
    await before.pay(liveKey, await newQr());
    expect((await before.as(liveKey).get('/v1/events?after=evt_500000')).status).toBe(404);
    // A promoted server has its sequence further ahead: PostgreSQL logs one 32 numbers ahead.
    const onCopy = (copy: Pool) =>
      copy.query(
        `SELECT setval(s, nextval(s) + 31) FROM (SELECT pg_get_serial_sequence('events', 'id')::regclass AS s) AS sequence`,
      );
    const lost = async () => {
      await before.pay(liveKey, await newQr());
      const feed = await before.as(liveKey).get('/v1/events?after=latest');
      return feed.json.next_cursor as string;
    };
    const { after, result } = await lose(lost, { onCopy });
    const lastLost = Number(result.slice('evt_'.length));
    await after.round();
    await after.poll();
    const feed = await after.as(liveKey).get(`/v1/events?after=${result}`);
    expect(feed).toMatchObject({ status: 200, json: { data: [{ data: { status: 'succeeded' } }] } });
    expect(Number(feed.json.data[0].id.slice('evt_'.length))).toBeGreaterThan(lastLost + 900_000);
    expect((await after.as(liveKey).get('/v1/events?after=evt_1000000000000000')).status).toBe(404);

    const entriesOf = async ({ pool }: typeof after) =>
      (await pool.query<{ no: bigint }>('SELECT max(entry_no) AS no FROM entries')).rows[0]!.no;
    expect(await entriesOf(after)).toBeGreaterThan((await entriesOf(before)) + 900_000n);
    await after.expectSoundBooks();
  });
});

describe('an order that cannot be rebuilt', () => {
  test('without its reference blocks its code alone, until an operator releases it', async () => {
    const { before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey } = await newCustomer();
    const [lost, other] = await Promise.all([newQr(), newQr()]);
    await lost.fault({ on: 'pay', kind: 'without_reference' });
    const { after, result } = await lose(() => before.pay(liveKey, lost));
    expect(await after.recover()).toBe(true);
    expect(await after.alarms()).toContain('stray_order');

    expect((await after.pay(liveKey, lost)).error.code).toBe('duplicate_qr_in_flight');
    expect((await after.pay(liveKey, other)).status).toBe('succeeded');
    const audit = auditContextOf(after.pool);
    expect(await releaseStray(audit, result.id, 'paid by hand')).toBe(true);
    expect(await releaseStray(audit, result.id, 'twice')).toBe(false);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.join();
    await after.round();
    expect((await after.pool.query('SELECT FROM stray_orders WHERE released_at IS NULL')).rowCount).toBe(0);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.pool.query('UPDATE incarnations SET opened_at = now() WHERE opened_at IS NULL');
    expect((await after.pay(liveKey, lost)).error?.code).not.toBe('duplicate_qr_in_flight');
  });

  test('whose code is not known either keeps the service closed', async () => {
    const { before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey } = await newCustomer();
    const lost = await newQr();
    await lost.fault({ on: 'pay', kind: 'without_reference' });
    const { after, result } = await lose(() => before.pay(liveKey, lost));
    const { gateway } = after.deps;
    const withoutCodes: typeof gateway = {
      ...gateway,
      listOrders: async (...args) => {
        const page = await gateway.listOrders(...args);
        return { ...page, orders: page.orders.map(order => ({ ...order, qrcId: null })) };
      },
    };
    expect(await after.recover({ gateway: withoutCodes })).toBe(false);
    await releaseStray(auditContextOf(after.pool), result.id, 'known to the shop');
    expect(await after.isOpenAfter(0, { gateway: withoutCodes })).toBe(true);
  });

  test('for want of balance blocks its key, and is rebuilt after the forgotten top-up', async () => {
    const { clock, before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey, partnerId } = await newCustomer(1n);
    const [qr, other, key] = [await newQr(), await newQr(), randomUUID()];
    const item = { partnerId, mode: 'live', microUsdt: 1_000_000_000n, reference: 'invoice-1' } as const;
    const topUp = (service: typeof before) => credit(service.pool, clock, [item]);
    const { after, result } = await lose(async () => {
      await topUp(before);
      return before.pay(liveKey, qr, key);
    });
    expect(result.status).toBe('succeeded');
    expect(await after.recover()).toBe(true);
    expect((await after.pay(liveKey, other, key)).error.code).toBe('maintenance');
    // The partner has seen the payment: it must not be refused for another reason, as if it had never been.
    await qr.fault({ on: 'resolve', kind: 'unresolvable' });
    expect((await after.pay(liveKey, qr, key)).error.code).toBe('maintenance');

    await topUp(after);
    // The top-up is for the order that the bank side has, not for another payment that comes first.
    expect((await after.pay(liveKey, other)).error.code).toBe('maintenance');
    await after.round();
    await after.poll();
    expect((await after.pay(liveKey, qr, key)).id).toBe(result.id);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.expectSoundBooks();
  });

  test('because an earlier payment of its code is open here is rebuilt when that one ends', async () => {
    const { simulator, clock, before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey } = await newCustomer();
    const [qr, key] = [await newQr(), randomUUID()];
    await qr.fault({ on: 'pay', kind: 'finish_later', ms: 300, outcome: 'declined', times: 1 });
    const first = await before.pay(liveKey, qr);
    expect(first.status).toBe('processing');
    const { after, result } = await lose(async () => {
      const order = () => simulator.call('GET', `/orders/${first.id}`);
      await expect.poll(async () => (await order()).body.state).toBe('declined');
      clock.advance(60_000);
      await before.poll();
      const { json } = await before.as(liveKey).get(`/v1/payments/${first.id}`);
      expect(json.status).toBe('failed');
      return before.pay(liveKey, qr, key);
    });
    expect(result.status).toBe('succeeded');
    await after.round();
    expect(await after.alarms()).toContain('stray_order');
    await after.poll();
    // This process dies after it was rebuilt: the next one finds that there is nothing left to do.
    const { db } = after.deps;
    const query: Queryable['query'] = statement =>
      /UPDATE stray_orders/.test(statement.text) ? Promise.reject(new Error('killed')) : db.query(statement);
    await expect(after.round({ db: { query } })).rejects.toThrow('killed');
    await after.round();
    expect(await after.alarms()).not.toContain('stray_order');
    await after.poll();
    expect(await after.pay(liveKey, qr, key)).toMatchObject({ id: result.id, status: 'succeeded' });
    await after.expectSoundBooks();
  });
});

test('a process that dies while it recovers is followed by another one; nothing is rebuilt twice', async () => {
  const { liveKey } = await newCustomer();
  const qrs = await Promise.all(Array.from({ length: 6 }, newQr));
  const { after } = await lose(() => Promise.all(qrs.map(qr => before.pay(liveKey, qr))));
  const { gateway, heartbeat } = after.deps;
  const dying = (pages: number): typeof gateway => ({
    ...gateway,
    listOrders: async (since, cursor) => {
      if (pages-- === 0) throw new Error('killed');
      const page = await gateway.listOrders(since, cursor);
      return { orders: page.orders.slice(0, -3), nextCursor: 'more' };
    },
  });
  await expect(after.round({ gateway: dying(1) })).rejects.toThrow('killed');
  const successor = { heartbeat: { ...heartbeat, instance: heartbeat.instance + 1_000 } };
  await after.round(successor);
  const rebuilt = async () => (await after.pool.query('SELECT FROM recovered_payments')).rowCount;
  const first = await rebuilt();
  await expect(after.isOpenAfter(10_001, { ...successor, gateway: dying(0) })).rejects.toThrow('killed');
  await after.isOpenAfter(10_001);
  expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
  expect(await rebuilt()).toBeGreaterThanOrEqual(6);
  expect(first).toBeLessThanOrEqual((await rebuilt())!);
  await after.poll();
  await after.expectSoundBooks();
});
