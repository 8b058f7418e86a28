import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const { pool, clock, newPartner } = await startDeliveryWorld();

test('an event that was written without a delivery gets one', async () => {
  const { partnerId, pay, receiver } = await newPartner();
  const id = await pay();
  await untilReceived(clock, receiver, 1);

  // As the function of the previous version does it.
  await pool.query(
    `INSERT INTO events (partner_id, mode, payment_id, at)
       SELECT partner_id, mode, id, settled_at FROM payments WHERE partner_id = $1`,
    [uuidFromId(partnerId)],
  );
  await untilReceived(clock, receiver, 2);
  expect(receiver.received.map(({ json }) => json.data.id)).toEqual([id, id]);
});
