import { expect, test } from 'vitest';
import { archiveMonths } from '../../src/payments/index.ts';
import { listAttempts, resendEvent } from '../../src/webhooks/index.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const world = await startDeliveryWorld();

test('the event of an archived payment is sent again, with the same payment', async () => {
  const { audit, clock, pool } = world;
  const { partnerId, receiver, pay } = await world.newPartner();
  await pay();
  await world.untilRecorded(partnerId, 1);
  clock.advance(80 * 86_400_000);
  expect(await archiveMonths(audit, { before: new Date('2026-12-01') })).toMatchObject({
    payments: 1,
    events: 1,
  });

  const [attempt] = await listAttempts(pool, partnerId, 10);
  expect(await resendEvent(audit, attempt!.eventId)).toMatchObject({ outcome: 'queued', partnerId });
  await untilReceived(clock, receiver, 2);
  const [first, second] = receiver.received;
  expect(second!.json).toEqual(first!.json);
});
