import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { credit } from '../../src/ledger/index.ts';
import { releaseStray } from '../../src/payments/index.ts';
import { auditContextOf } from '../helpers/database.ts';
import { lateOrdersMs, noNewOrdersMs, startLostWorld } from './lost-world.ts';

/** An order that cannot be rebuilt stays at its bank, so a test of one starts a world of its own. */
const { clock, before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();

const payBoth = (key: string, ...requests: [object, string][]) =>
  Promise.all(requests.map(([body, idempotencyKey]) => before.as(key).pay(body, idempotencyKey)));

describe('payments that the database has forgotten', () => {
  test('are rebuilt with their ids, and a repeat finds them instead of paying again', async () => {
    const { liveKey } = await newCustomer();
    const [paid, declined, slow] = await Promise.all([newQr(), newQr(), newQr()]);
    await declined.fault({ on: 'pay', kind: 'decline', reason: 'LIMIT_EXCEEDED' });
    await slow.fault({ on: 'pay', kind: 'finish_later', ms: 3_600_000, outcome: 'succeeded' });
    const requests = [paid, declined, slow].map((qr, nth): [object, string] => [
      { qr_url: qr.link, external_id: `order-${nth}`, metadata: { nth } },
      randomUUID(),
    ]);
    const { after, result } = await lose(() => payBoth(liveKey, ...requests));
    expect(result.map(({ json }) => json.status)).toEqual(['succeeded', 'failed', 'processing']);

    const partner = after.as(liveKey);
    const [body, key] = requests[0]!;
    expect(await partner.pay(body, key)).toMatchObject({
      status: 503,
      json: { error: { code: 'maintenance' } },
    });

    await after.round();
    await after.poll();
    for (const [nth, request] of requests.entries()) {
      const { id, rate, amount_usdt, created_at, status, external_id, metadata } = result[nth]!.json;
      const repeat = await partner.pay(...request);
      expect(repeat.json).toMatchObject({ id, rate, amount_usdt, created_at, status, external_id, metadata });
    }
    expect(await after.isOpen()).toBe(false);
    clock.advance(lateOrdersMs);
    await after.round();
    expect(await after.isOpen()).toBe(true);
    expect((await paidOrders()).filter(({ qrc_id }) => qrc_id === paid.qrc_id)).toHaveLength(1);

    const balanceOf = async (service: typeof after) =>
      (await service.as(liveKey).get('/v1/balance')).json.balance_usdt;
    expect(await balanceOf(after)).toBe(await balanceOf(before));
    const { rows } = await after.pool.query('SELECT order_state FROM recovered_payments ORDER BY 1');
    expect(rows.map(({ order_state }) => order_state)).toEqual(['accepted', 'declined', 'succeeded']);
    await after.expectSoundBooks();
  });

  test('no payment is accepted before late orders can have arrived', async () => {
    const { liveKey } = await newCustomer();
    const { after } = await lose(async () => {});
    await after.round();
    clock.advance(lateOrdersMs - 1_000);
    await after.round();
    const qr = await newQr();
    expect((await after.as(liveKey).pay({ qr_url: qr.link })).json.error.code).toBe('maintenance');

    // A process that had not noticed yet: its order arrives in the last moment.
    const key = randomUUID();
    const late = await before.as(liveKey).pay({ qr_url: qr.link }, key);
    clock.advance(1_000);
    await after.round();
    expect(await after.isOpen()).toBe(false);
    clock.advance(noNewOrdersMs);
    await after.round();
    expect(await after.isOpen()).toBe(true);
    expect((await after.as(liveKey).pay({ qr_url: qr.link }, key)).json.id).toBe(late.json.id);
  });

  test('a synchronous standby has forgotten nothing: it opens with the first list', async () => {
    const { liveKey } = await newCustomer();
    const { after } = await lose(async () => {});
    await after.pool.query('UPDATE incarnations SET is_synchronous = true');
    await after.round();
    expect(await after.isOpen()).toBe(true);
    const qr = await newQr();
    expect((await after.as(liveKey).pay({ qr_url: qr.link })).json.status).toBe('succeeded');
  });

  test('numbers that were given out are not given out again', async () => {
    const { liveKey } = await newCustomer();
    const qrs = await Promise.all([newQr(), newQr()]);
    await before.as(liveKey).pay({ qr_url: qrs[0]!.link });
    expect((await before.as(liveKey).get('/v1/events?after=evt_500000')).status).toBe(404);
    const { after, result } = await lose(async () => {
      await before.as(liveKey).pay({ qr_url: qrs[1]!.link });
      const feed = await before.as(liveKey).get('/v1/events?after=latest');
      return feed.json.next_cursor as string;
    });
    const lastLost = Number(result.slice('evt_'.length));
    await after.round();
    await after.poll();
    const feed = await after.as(liveKey).get(`/v1/events?after=${result}`);
    expect(feed.json.data).toHaveLength(1);
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
    const { after, result } = await lose(() => before.as(liveKey).pay({ qr_url: lost.link }));
    await after.recover();
    expect(await after.isOpen()).toBe(true);
    expect(await after.alarms()).toContain('stray_order');

    const partner = after.as(liveKey);
    expect((await partner.pay({ qr_url: lost.link })).json.error.code).toBe('duplicate_qr_in_flight');
    expect((await partner.pay({ qr_url: other.link })).json.status).toBe('succeeded');
    const audit = auditContextOf(after.pool);
    expect(await releaseStray(audit, result.json.id, 'paid by hand')).toBe(true);
    expect(await releaseStray(audit, result.json.id, 'twice')).toBe(false);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.join();
    await after.round();
    expect((await after.pool.query('SELECT FROM stray_orders WHERE released_at IS NULL')).rowCount).toBe(0);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.pool.query('UPDATE incarnations SET opened_at = now() WHERE opened_at IS NULL');
    expect((await partner.pay({ qr_url: lost.link })).json.error?.code).not.toBe('duplicate_qr_in_flight');
  });

  test('whose code is not known either keeps the service closed', async () => {
    const { before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey } = await newCustomer();
    const lost = await newQr();
    await lost.fault({ on: 'pay', kind: 'without_reference' });
    const { after, result } = await lose(() => before.as(liveKey).pay({ qr_url: lost.link }));
    const { gateway } = after.deps;
    const withoutCodes: typeof gateway = {
      ...gateway,
      listOrders: async (...args) => {
        const page = await gateway.listOrders(...args);
        return { ...page, orders: page.orders.map(order => ({ ...order, qrcId: null })) };
      },
    };
    await after.recover({ gateway: withoutCodes });
    expect(await after.isOpen()).toBe(false);
    await releaseStray(auditContextOf(after.pool), result.json.id, 'known to the shop');
    await after.round({ gateway: withoutCodes });
    expect(await after.isOpen()).toBe(true);
  });

  test('for want of balance blocks its key, and is rebuilt after the forgotten top-up', async () => {
    const { clock, before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey, partnerId } = await newCustomer(1n);
    const qr = await newQr();
    const topUp = (service: typeof before) =>
      credit(service.pool, clock, [
        { partnerId, mode: 'live', microUsdt: 1_000_000_000n, reference: 'invoice-1' },
      ]);
    const key = randomUUID();
    const { after, result } = await lose(async () => {
      await topUp(before);
      return before.as(liveKey).pay({ qr_url: qr.link }, key);
    });
    expect(result.json.status).toBe('succeeded');
    await after.recover();
    expect(await after.isOpen()).toBe(true);
    const other = await newQr();
    expect((await after.as(liveKey).pay({ qr_url: other.link }, key)).json.error.code).toBe('maintenance');
    // The partner has seen the payment: it must not be refused for another reason, as if it had never been.
    await qr.fault({ on: 'resolve', kind: 'unresolvable' });
    expect((await after.as(liveKey).pay({ qr_url: qr.link }, key)).json.error.code).toBe('maintenance');

    await topUp(after);
    // The top-up is for the order that the bank side has, not for another payment that comes first.
    expect((await after.as(liveKey).pay({ qr_url: other.link })).json.error.code).toBe('maintenance');
    await after.round();
    await after.poll();
    expect((await after.as(liveKey).pay({ qr_url: qr.link }, key)).json.id).toBe(result.json.id);
    expect(await after.alarms()).not.toContain('stray_order');
    await after.expectSoundBooks();
  });

  test('because an earlier payment of its code is open here is rebuilt when that one ends', async () => {
    const { simulator, clock, before, newCustomer, newQr, lose } = await startLostWorld();
    const { liveKey } = await newCustomer();
    const qr = await newQr();
    await qr.fault({ on: 'pay', kind: 'finish_later', ms: 300, outcome: 'declined', times: 1 });
    const first = await before.as(liveKey).pay({ qr_url: qr.link });
    expect(first.json.status).toBe('processing');
    const key = randomUUID();
    const { after, result } = await lose(async () => {
      const order = () => simulator.call('GET', `/orders/${first.json.id}`);
      await expect.poll(async () => (await order()).body.state).toBe('declined');
      clock.advance(60_000);
      await before.poll();
      const { json } = await before.as(liveKey).get(`/v1/payments/${first.json.id}`);
      expect(json.status).toBe('failed');
      return before.as(liveKey).pay({ qr_url: qr.link }, key);
    });
    expect(result.json.status).toBe('succeeded');
    await after.round();
    expect(await after.alarms()).toContain('stray_order');
    await after.poll();
    // This process dies after it was rebuilt: the next one finds that there is nothing left to do.
    const { db } = after.deps;
    const dying: Queryable = {
      query: statement =>
        /UPDATE stray_orders/.test(statement.text)
          ? Promise.reject(new Error('killed'))
          : db.query(statement),
    };
    await expect(after.round({ db: dying })).rejects.toThrow('killed');
    await after.round();
    expect(await after.alarms()).not.toContain('stray_order');
    await after.poll();
    expect((await after.as(liveKey).pay({ qr_url: qr.link }, key)).json).toMatchObject({
      id: result.json.id,
      status: 'succeeded',
    });
    await after.expectSoundBooks();
  });
});

describe('a process that dies while it recovers', () => {
  test('is followed by another one that goes on; nothing is rebuilt twice', async () => {
    const { liveKey } = await newCustomer();
    const qrs = await Promise.all(Array.from({ length: 6 }, newQr));
    const { after } = await lose(() =>
      Promise.all(qrs.map(({ link }) => before.as(liveKey).pay({ qr_url: link }))),
    );
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
    clock.advance(10_001);
    await expect(after.round({ ...successor, gateway: dying(0) })).rejects.toThrow('killed');
    clock.advance(10_001);
    await after.round();
    clock.advance(noNewOrdersMs);
    await after.round();
    expect(await after.isOpen()).toBe(true);
    expect(await rebuilt()).toBeGreaterThanOrEqual(6);
    expect(first).toBeLessThanOrEqual((await rebuilt())!);
    await after.poll();
    await after.expectSoundBooks();
  });
});
