import { describe, expect, test } from 'vitest';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { reEnable } from '../../src/webhooks/admin/re-enable.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import { findWebhook, listAttempts, resendEvent } from '../../src/webhooks/index.ts';
import { withStatus } from '../helpers/webhook-receiver.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const world = await startDeliveryWorld();
const { pool, clock, audit, newPartner, untilRecorded } = world;

describe('kept events wait for an earlier one whose attempt could not be recorded', () => {
  /** The first attempt is not recorded; its event pauses until the test says so, and the read of the next one may be slow. */
  async function startPausing(onRead: () => Promise<void>) {
    await world.stopDelivery();
    const resumed = Promise.withResolvers<void>();
    let failures = 1;
    const pausing = ({ query }: Queryable): Queryable => ({
      query: async statement => {
        if (statement.text.includes('deliveries_end(') && failures-- > 0) throw new Error('cut');
        const result = await query<never>(statement);
        if (statement.name === 'read due deliveries' && failures < 1 && result.rows.length > 0)
          await onRead();
        return result;
      },
    });
    const sleep: typeof clock.sleep = (ms, signal) =>
      ms === 5_000 ? resumed.promise : clock.sleep(ms, signal);
    const slow = { ...world.deps, clock: { ...clock, sleep } };
    world.delivery = startDelivery({ ...slow, db: pausing(slow.db) });

    const { receiver, pay, partnerId, endpoint, paymentsReceived } = await newPartner();
    receiver.answer(withStatus(503));
    const first = await pay();
    await untilReceived(clock, receiver, 1);
    await world.suspend(endpoint.endpointId);
    const second = await pay();
    expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
    return { receiver, paymentsReceived, resume: resumed.resolve, inOrder: [first, first, second] };
  }

  test('while it pauses', async () => {
    const { receiver, paymentsReceived, resume, inOrder } = await startPausing(async () => {});
    // The event of another partner proves that the sender has run since.
    const other = await newPartner();
    await other.pay();
    await untilReceived(clock, other.receiver, 1);
    expect(receiver.received).toHaveLength(1);
    receiver.answer(withStatus(200));
    resume();
    await untilReceived(clock, receiver, 3);
    expect(paymentsReceived()).toEqual(inOrder);
  });

  test('also if they were read while it paused, and the pause has ended since', async () => {
    const isRead = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { receiver, paymentsReceived, resume, inOrder } = await startPausing(() => {
      isRead.resolve();
      return goOn.promise;
    });
    world.delivery.runNow();
    await isRead.promise;
    receiver.answer(withStatus(200));
    resume();
    await nextLoopTurn();
    goOn.resolve();
    await untilReceived(clock, receiver, 3);
    expect(paymentsReceived()).toEqual(inOrder);
  });
});

test('kept events go out in their order, also when the time of a later one is earlier', async () => {
  const { pay, partnerId, endpoint, paymentsReceived } = await newPartner();
  await world.suspend(endpoint.endpointId);
  const first = await pay();
  clock.advance(-50);
  const second = await pay();
  clock.advance(1_000);
  expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
  world.delivery.runNow();
  await untilRecorded(partnerId, 2);
  expect(paymentsReceived()).toEqual([first, second]);
});

test('an event sent again during a suspension also goes out in the order of events', async () => {
  const { pay, partnerId, endpoint, paymentsReceived } = await newPartner();
  const first = await pay();
  await untilRecorded(partnerId, 1);
  const { eventId } = (await listAttempts(pool, partnerId, 1))[0]!;
  await world.suspend(endpoint.endpointId);
  const kept = [await pay(), await pay()];
  clock.advance(1_000);
  await resendEvent(audit, eventId);
  expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
  world.delivery.runNow();
  await untilRecorded(partnerId, 4);
  expect(paymentsReceived()).toEqual([first, first, ...kept]);
});
