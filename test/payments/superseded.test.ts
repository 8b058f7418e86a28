import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { openingsOf } from '../helpers/openings.ts';
import { startLostWorld } from './lost-world.ts';

test('an order of a key whose first payment was undone in the lost time takes its place again', async () => {
  const { clock, before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();
  const { liveKey } = await newCustomer();
  const qr = await newQr();
  const key = randomUUID();
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
  const first = before.as(liveKey).pay({ qr_url: qr.link }, key);
  await opened.promise;
  const { after, result } = await lose(async () => {
    before.deps.writer.open = open;
    goOn.resolve();
    expect((await first).json.error.code).toBe('gateway_busy');
    return before.as(liveKey).pay({ qr_url: qr.link }, key);
  });
  expect(result.json.status).toBe('succeeded');

  const repeat = async () => (await after.as(liveKey).pay({ qr_url: qr.link }, key)).json;
  clock.advance(60_000);
  await after.poll();
  expect((await repeat()).error.code).toBe('maintenance');
  for (let rounds = 0; rounds < 5 && !(await after.isOpen()); rounds++) {
    clock.advance(20_000);
    await after.round();
  }
  expect(await after.isOpen()).toBe(true);
  expect((await repeat()).error.code).toBe('maintenance');
  clock.advance(60_000);
  await after.poll();
  await after.round();
  await after.poll();
  expect(await repeat()).toMatchObject({ id: result.json.id, status: 'succeeded' });
  expect(await paidOrders()).toHaveLength(1);
  expect(await after.alarms()).not.toContain('stray_order');
  await after.expectSoundBooks();
});

test('only a later order of its key takes the place of a payment, not one that arrived late', async () => {
  const { clock, before, newCustomer } = await startLostWorld();
  const { pool } = before;
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

test('the database reads the time in an id', async () => {
  const { clock, before } = await startLostWorld();
  const { rows } = await before.pool.query<{ at: Date }>('SELECT id_created_at($1) AS at', [
    newId('pay', clock),
  ]);
  expect(rows[0]!.at).toEqual(new Date(clock.nowMs()));
});
