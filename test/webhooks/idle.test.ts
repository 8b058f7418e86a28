import { expect, test } from 'vitest';
import { startLeaseKeeper } from '../../src/webhooks/delivery/lease-keeper.ts';
import { createDeliverySlots } from '../../src/webhooks/delivery/slots.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { firstEndpoints, furtherEndpoints } from '../../src/webhooks/endpoint-tables.ts';
import { notePauses } from '../helpers/noted-pauses.ts';
import { withStatus } from '../helpers/webhook-receiver.ts';
import { startDeliveryWorld } from './delivery-world.ts';

const world = await startDeliveryWorld();
const { clock, deps, newPartner, untilRecorded } = world;

/** The pauses of its loops, with how soon it looks when it is woken. */
async function firstPauses(tables = firstEndpoints) {
  const noted = notePauses(clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  const keeper = startLeaseKeeper({ ...deps, clock: noted.clock }, tables, slots, () => {});
  await expect.poll(() => noted.pauses.length).toBe(3);
  keeper.wake();
  keeper.wake();
  await keeper.stop();
  return { pauses: noted.pauses.toSorted((a, b) => a - b), timers: noted.timers };
}

test('without deliveries leases are looked for every other second, otherwise when the first one is due', async () => {
  await world.stopDelivery();
  expect(await firstPauses()).toEqual({ pauses: [1_500, 2_000, 10_000], timers: [200] });
  world.delivery = startDelivery(deps);
  const { partnerId, receiver, pay } = await newPartner();
  receiver.answer(withStatus(500));
  await pay();
  await untilRecorded(partnerId, 1);
  await world.stopDelivery();
  expect((await firstPauses()).pauses).toEqual([1_000, 1_500, 10_000]);
  clock.advance(9_700);
  expect((await firstPauses()).pauses).toEqual([300, 1_500, 10_000]);
  clock.advance(300);
  // Due, and acquired.
  expect((await firstPauses()).pauses).toEqual([200, 1_500, 10_000]);
  expect((await firstPauses(furtherEndpoints)).pauses).toEqual([1_500, 2_000, 10_000]);
});
