import { describe, expect, test } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { startLeaseKeeper } from '../../src/webhooks/delivery/leases.ts';
import { recordAttempts } from '../../src/webhooks/delivery/recorder.ts';
import { createDeliverySlots } from '../../src/webhooks/delivery/slots.ts';
import { startDelivery } from '../../src/webhooks/delivery/worker.ts';
import {
  createSender,
  findWebhook,
  listAttempts,
  readSecrets,
  resendEvent,
  rotateSecret,
} from '../../src/webhooks/index.ts';
import { setRate } from '../helpers/api.ts';
import { notePauses } from '../helpers/noted-pauses.ts';
import { hanging, withStatus } from '../helpers/webhook-receiver.ts';
import { startDeliveryWorld, untilReceived } from './delivery-world.ts';

const world = await startDeliveryWorld();
const { pool, clock, deps, audit, vault, newPartner, untilRecorded } = world;

/** The pauses of its loops, with how soon it looks when it is woken. */
async function firstPauses() {
  const noted = notePauses(clock);
  const slots = createDeliverySlots(clock.monotonicMs);
  const keeper = startLeaseKeeper({ ...deps, clock: noted.clock }, slots, () => {});
  await clock.until(() => expect(noted.pauses.length).toBe(3));
  keeper.wake();
  keeper.wake();
  await keeper.stop();
  return { pauses: noted.pauses.toSorted((a, b) => a - b), timers: noted.timers };
}

// Before the others: nothing of theirs is due.
test('without deliveries leases are looked for every four seconds, otherwise when the first one is due', async () => {
  await world.stopDelivery();
  expect(await firstPauses()).toEqual({ pauses: [1_500, 4_000, 10_000], timers: [200] });
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
});

test('stopping does not wait for a receiver that hangs, and the event stays', async () => {
  const slow = createSender({ clock, allowPrivate: true, timeoutMs: 60_000 });
  await world.stopDelivery();
  world.delivery = startDelivery({ ...deps, sender: slow });
  const { receiver, pay, partnerId } = await newPartner();
  receiver.answer(hanging);
  await pay();
  await untilReceived(clock, receiver, 1);
  // The time stands still: the attempt does not end by itself.
  await world.stopDelivery();
  expect(await listAttempts(pool, partnerId, 10)).toEqual([]);
  receiver.answer(withStatus(200));
  world.delivery = startDelivery(deps);
  await untilRecorded(partnerId, 1);
  expect(receiver.received).toHaveLength(2);
  await slow.close();
});

describe('every partner is served:', () => {
  test('a partner whose lease could not be released is still served', async () => {
    await world.stopDelivery();
    let refuses = true;
    const { receiver, pay, endpoint } = await newPartner();
    // The statement ran and its answer was lost: this process holds a lease that it has not recorded.
    await world.lease(endpoint.endpointId, deps.heartbeat.instance, 3_600_000);
    await pay();
    world.delivery = startDelivery({
      ...deps,
      db: {
        query: statement =>
          refuses && statement.name === 'release webhook leases'
            ? Promise.reject(new Error('locked'))
            : deps.db.query(statement),
      },
    });
    await untilReceived(clock, receiver, 1);
    refuses = false;
  });

  test('new events do not delay the next attempt at an old one', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(withStatus(500));
    await pay();
    await untilRecorded(partnerId, 1);
    // Due later than the second attempt at the first, so they come after it.
    clock.advance(10_000);
    await setRate(pool, clock);
    for (let event = 0; event < 3; event++) await pay();
    await untilRecorded(partnerId, 5);
    const order = (await listAttempts(pool, partnerId, 10)).toReversed().map(({ attempt }) => attempt);
    expect(order.slice(0, 2)).toEqual([1, 2]);
  });

  test('a secret that cannot be decrypted blocks only its partner', async () => {
    const [broken, fine] = [await newPartner(), await newPartner()];
    await pool.query(`UPDATE endpoints SET secret = '\\x00'::bytea WHERE partner_id = $1`, [
      uuidFromId(broken.partnerId),
    ]);
    await Promise.all([broken.pay(), fine.pay()]);
    await untilReceived(clock, fine.receiver, 1);
    await clock.until(async () =>
      expect(await listAlarms(pool, { cleared: false })).toContainEqual(
        expect.objectContaining({ kind: 'webhook_secret_unreadable', subject: broken.partnerId }),
      ),
    );
    expect(broken.receiver.received).toEqual([]);
    // As the alarm advises. The one that cannot be opened is the old secret now.
    expect(await rotateSecret(audit, vault, broken.partnerId, { force: true })).toBe('rotated');
    expect(await readSecrets(pool, vault, broken.partnerId, clock.nowMs())).toHaveLength(1);
    world.delivery.runNow();
    await untilReceived(clock, broken.receiver, 1);
  });

  test('an event that an operator sends again is not given up by an earlier attempt', async () => {
    const { receiver, pay, partnerId, endpoint } = await newPartner();
    receiver.answer(hanging);
    await pay();
    await untilReceived(clock, receiver, 1);
    const { rows } = await pool.query(
      'UPDATE deliveries SET attempts = 8 WHERE partner_id = $1 RETURNING event_id',
      [uuidFromId(partnerId)],
    );
    const eventId = rows[0].event_id;
    await resendEvent(audit, eventId);
    const late = {
      ...{ ...endpoint, eventId, attempt: 9 },
      ...{ isDelivered: false, hasHung: true },
      ...{ status: null, error: 'timeout', responseBody: null, durationMs: 1_000 },
      ...{ nextAt: null, at: new Date(clock.nowMs()) },
    };
    await transaction(pool, tx => recordAttempts(tx, [late], 'suspended'));
    expect(await findWebhook(pool, partnerId)).toMatchObject({ waiting: 1, givenUp: 0 });
    receiver.answer(withStatus(200));
  });
});

test('receivers that hang or refuse do not delay those that answer, and no event is lost', async () => {
  const slow = createSender({ clock, allowPrivate: true, timeoutMs: 60_000 });
  await world.stopDelivery();
  world.delivery = startDelivery({ ...deps, sender: slow });
  const newPartners = () => Promise.all(Array.from({ length: 5 }, newPartner));
  const [hang, refuse, alive] = [await newPartners(), await newPartners(), await newPartners()];
  for (const { receiver } of hang) receiver.answer(hanging);
  for (const { receiver } of refuse) receiver.answer(withStatus(500));
  await Promise.all([...hang, ...refuse].flatMap(({ pay }) => [pay(), pay(), pay()]));
  await Promise.all(hang.map(({ receiver }) => untilReceived(clock, receiver, 1)));
  await Promise.all(alive.flatMap(({ pay }) => Array.from({ length: 10 }, () => pay())));
  await Promise.all(alive.map(({ partnerId }) => untilRecorded(partnerId, 10)));
  for (const { receiver } of alive)
    expect(new Set(receiver.received.map(({ json }) => json.id)).size).toBe(10);
  // Each receiver that hangs has a single attempt under way, however much is due.
  expect(hang.map(({ receiver }) => receiver.received.length)).toEqual(hang.map(() => 1));
  await world.stopDelivery();
  for (const { partnerId } of [...hang, ...refuse])
    expect(await findWebhook(pool, partnerId)).toMatchObject({ waiting: 3, givenUp: 0 });
  world.delivery = startDelivery(deps);
  await slow.close();
});
