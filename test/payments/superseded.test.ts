import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
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
