import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { createReferenceSealer } from '../../src/payments/index.ts';
import { openingsOf } from '../helpers/openings.ts';
import { secretKey } from '../helpers/partners.ts';
import { lateOrdersMs, noNewOrdersMs, startLostWorld } from './lost-world.ts';

/** Tests that leave orders at their bank start a world of their own. */
const { before, newCustomer, newQr, lose } = await startLostWorld();

test('two histories that begin from the same backup, one after the other, give out different numbers', async () => {
  const { newCustomer, newQr, loseTwice } = await startLostWorld();
  const { liveKey } = await newCustomer();
  const numbers = async (pool: Pool) =>
    (
      await pool.query<{ event: bigint; entry: bigint }>(
        'SELECT (SELECT max(id) FROM events) AS event, (SELECT max(entry_no) FROM entries) AS entry',
      )
    ).rows[0]!;
  const pay = async (service: Awaited<ReturnType<typeof loseTwice>>[number]) => {
    await service.isOpenAfter(lateOrdersMs);
    await service.isOpenAfter(noNewOrdersMs);
    expect((await service.pay(liveKey, await newQr())).status).toBe('succeeded');
    return numbers(service.pool);
  };
  const [first, second] = await loseTwice();
  const [before, after] = [await pay(first), await pay(second)];
  expect(after.event).toBeGreaterThan(before.event);
  expect(after.entry).toBeGreaterThan(before.entry);
});

test('an installation that goes on paying, with pauses between two lists, keeps a copy of it closed, with an alarm', async () => {
  const { liveKey } = await newCustomer();
  const { after } = await lose(async () => {});
  for (let seconds = 0; seconds < 48; seconds += 6) {
    await before.pay(liveKey, await newQr());
    await after.isOpenAfter(6_000);
    expect(await after.isOpenAfter()).toBe(false);
  }
  expect(await after.alarms()).toContain('foreign_orders');
  expect(await after.isOpenAfter(noNewOrdersMs)).toBe(true);
});

test('an order of a key whose first payment was undone in the lost time takes its place again', async () => {
  const { clock, before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();
  const { liveKey } = await newCustomer();
  const [qr, key] = [await newQr(), randomUUID()];
  // The copy is made while the first payment is under way: its order is refused after that.
  const open = before.deps.writer.open;
  const opened = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  before.deps.writer.open = async payment => {
    const result = await open(payment);
    opened.resolve();
    await goOn.promise;
    return result;
  };
  await qr.fault({ on: 'pay', kind: 'busy', times: 1 });
  const first = before.pay(liveKey, qr, key);
  await opened.promise;
  const { after, result } = await lose(async () => {
    before.deps.writer.open = open;
    goOn.resolve();
    expect((await first).error.code).toBe('gateway_busy');
    return before.pay(liveKey, qr, key);
  });
  expect(result.status).toBe('succeeded');

  const repeat = () => after.pay(liveKey, qr, key);
  clock.advance(60_000);
  await after.poll();
  expect((await repeat()).error.code).toBe('maintenance');
  for (let rounds = 0; rounds < 5 && !(await after.isOpen()); rounds++) await after.isOpenAfter(20_000);
  expect(await after.isOpen()).toBe(true);
  expect((await repeat()).error.code).toBe('maintenance');
  clock.advance(60_000);
  await after.poll();
  await after.round();
  await after.poll();
  expect(await repeat()).toMatchObject({ id: result.id, status: 'succeeded' });
  expect(await paidOrders()).toHaveLength(1);
  expect(await after.alarms()).not.toContain('stray_order');
  await after.expectSoundBooks();
});

test('only a later order of its key takes the place of a payment, not one that arrived late', async () => {
  const { clock, before, newCustomer } = await startLostWorld();
  const { pool } = before;
  const { rows: times } = await pool.query('SELECT id_created_at($1) AS at', [newId('pay', clock)]);
  expect(times[0].at).toEqual(new Date(clock.nowMs()));
  const { partnerId } = await newCustomer();
  const opening = await openingsOf(pool, clock);
  const payment = opening(partnerId, { paymentId: newId('pay', clock) });
  expect((await before.deps.writer.open(payment)).verdict).toBe('opened');
  await pool.query('UPDATE incarnations SET began_at = $1', [new Date(clock.nowMs() + 60_000)]);
  const idMadeAt = (ms: number) => newId('pay', { ...clock, nowMs: () => ms });
  const isSupersededBy = async (order: string) => {
    await pool.query('DELETE FROM stray_orders');
    await pool.query({
      text: `INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, partner_id, idempotency_key, why,
                                       incarnation, found_at)
             SELECT $1, 'o', 'succeeded', 1, now(), $2, $3, 'key_taken', max(number), now() FROM incarnations`,
      values: [order, uuidFromId(partnerId), payment.idempotencyKey],
    });
    const { rows } = await pool.query<{ is: boolean }>({
      text: `SELECT payment_is_superseded($1, 'live', $2) AS is`,
      values: [uuidFromId(partnerId), uuidFromId(payment.paymentId)],
    });
    return rows[0]!.is;
  };
  const openedMs = clock.nowMs();
  expect(await isSupersededBy(idMadeAt(openedMs + 1_000))).toBe(true);
  // The clocks of two processes differ.
  expect(await isSupersededBy(idMadeAt(openedMs - 1_000))).toBe(true);
  expect(await isSupersededBy(idMadeAt(openedMs - 20_000))).toBe(false);
});

test('a backup from before a new secret key: its orders wait for that key, and become payments with it', async () => {
  const { before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();
  const { liveKey } = await newCustomer();
  const qrs = await Promise.all([newQr(), newQr()]);
  const keys = qrs.map(() => randomUUID());
  const pay = (service: typeof before) =>
    Promise.all(qrs.map((qr, nth) => service.pay(liveKey, qr, keys[nth])));
  const { after, result } = await lose(() => pay(before));

  const without = {
    references: createReferenceSealer(createKeyring(['a key of another time, which opens nothing'])),
  };
  expect(await after.recover(without)).toBe(true);
  expect(await after.alarms()).toEqual(['stray_order', 'stray_order']);
  expect((await after.pay(liveKey, qrs[0]!, keys[0])).error.code).toBe('duplicate_qr_in_flight');

  const references = createReferenceSealer(
    createKeyring(['the newest key of this test, long enough', secretKey]),
  );
  await after.round({ references });
  await after.poll();
  expect(await after.alarms()).toEqual([]);
  expect(await pay(after)).toMatchObject(result.map(({ id }) => ({ id, status: 'succeeded' })));
  expect(await paidOrders()).toHaveLength(2);
  await after.expectSoundBooks();
});
