import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyring } from '../../src/db/keyring.ts';
import { createReferenceSealer } from '../../src/payments/index.ts';
import { secretKey } from '../helpers/partners.ts';
import { startLostWorld } from './lost-world.ts';

const { clock, before, newCustomer, newQr, lose, paidOrders } = await startLostWorld();

test('a backup from before a new secret key: its orders wait for that key, and become payments with it', async () => {
  const { liveKey } = await newCustomer();
  const qrs = await Promise.all([newQr(), newQr()]);
  const requests = qrs.map((qr): [object, string] => [{ qr_url: qr.link }, randomUUID()]);
  const pay = () => Promise.all(requests.map(request => before.as(liveKey).pay(...request)));
  const { after, result } = await lose(pay);

  const without = {
    references: createReferenceSealer(createKeyring(['a key of another time, which opens nothing'])),
  };
  await after.round(without);
  clock.advance(20_000);
  await after.round(without);
  expect(await after.isOpen()).toBe(true);
  expect(await after.alarms()).toEqual(['stray_order', 'stray_order']);
  expect((await after.as(liveKey).pay(...requests[0]!)).json.error.code).toBe('duplicate_qr_in_flight');

  const references = createReferenceSealer(
    createKeyring(['the newest key of this test, long enough', secretKey]),
  );
  await after.round({ references });
  await after.poll();
  expect(await after.alarms()).toEqual([]);
  for (const [nth, request] of requests.entries())
    expect((await after.as(liveKey).pay(...request)).json).toMatchObject({
      id: result[nth]!.json.id,
      status: 'succeeded',
    });
  expect(await paidOrders()).toHaveLength(2);
  await after.expectSoundBooks();
});
