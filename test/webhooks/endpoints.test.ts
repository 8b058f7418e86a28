import { test as base, describe, expect } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import {
  checkPartner,
  findWebhook,
  listWebhooks,
  removeEndpoint,
  resendEvent,
  rotateSecret,
  setEvents,
} from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/partners.ts';
import { verifySignature } from '../helpers/signature.ts';
import { hanging, withStatus } from '../helpers/webhook-receiver.ts';
import { untilReceived } from './delivery-world.ts';
import { startEndpointWorld } from './endpoint-world.ts';

const world = await startEndpointWorld();
const { pool, clock, audit, vault, sender, newPartner, add, noticesOf } = world;
const test = base.extend('partner', () => newPartner());

describe('each endpoint', () => {
  test('gets every event once, signed with its own secret', async () => {
    const { partnerId, receiver, pay, secret } = await newPartner();
    const others = [await add(partnerId), await add(partnerId)];
    const paid: string[] = [];
    for (let event = 0; event < 5; event++) paid.push(await pay());
    await untilReceived(clock, receiver, 5);
    const nowSec = Math.floor(clock.nowMs() / 1_000);
    for (const one of others) {
      await one.untilRecorded(5);
      expect(one.paymentsReceived().toSorted()).toEqual(paid);
      const [own = ''] = await one.secrets();
      const [{ headers, body }] = one.receiver.received as [(typeof receiver.received)[0]];
      const signature = headers['x-service-signature'] as string;
      expect(verifySignature(own, signature, body, nowSec)).toBe(true);
      expect(verifySignature(secret, signature, body, nowSec)).toBe(false);
    }
    // The event is the same, the delivery is not.
    const all = [receiver, ...others.map(one => one.receiver)].map(({ received }) => received[0]!);
    expect(new Set(all.map(({ body }) => body)).size).toBe(1);
    expect(new Set(all.map(({ headers }) => headers['x-service-delivery'])).size).toBe(3);
    // The first one has received all, which may not be on record yet.
    await clock.until(async () =>
      expect((await listWebhooks(pool, partnerId)).map(({ waiting }) => waiting)).toEqual([0, 0, 0]),
    );
  });

  test('gets only the kinds of events that it asks for', async () => {
    const { partnerId, receiver, pay } = await newPartner();
    const failures = await add(partnerId, { events: ['payment.failed'] });
    const successes = await add(partnerId, { events: ['payment.succeeded'] });
    const [succeeded, failed] = [await pay(), await pay(10_001)];
    await untilReceived(clock, receiver, 2);
    await failures.untilRecorded(1);
    await successes.untilRecorded(1);
    expect([failures.paymentsReceived(), successes.paymentsReceived()]).toEqual([[failed], [succeeded]]);
    expect(await setEvents(audit, { partnerId, endpointId: failures.endpointId }, [])).toBe('no_events');
    await setEvents(audit, { partnerId, endpointId: failures.endpointId }, ['payment.succeeded']);
    const next = await pay();
    await failures.untilRecorded(2);
    expect(failures.paymentsReceived()).toEqual([failed, next]);
  });

  test('gets no events of the other mode, and none from before it was added', async ({ partner }) => {
    const { partnerId, receiver, pay } = partner;
    const live = await add(partnerId, { mode: 'live' });
    // What it would get would stay.
    live.receiver.answer(withStatus(500));
    // The first one of an account is opened and ended apart.
    await pay();
    await pay();
    await untilReceived(clock, receiver, 2);
    expect((await findWebhook(pool, partnerId, live.endpointId))!.waiting).toBe(0);
    const late = await add(partnerId);
    const next = await pay();
    await late.untilRecorded(1);
    expect(late.paymentsReceived()).toEqual([next]);
  });

  test('is checked with its own secret, and has its own rotation', async () => {
    const { partnerId, pay, secret } = await newPartner();
    const other = await add(partnerId);
    const [old = ''] = await other.secrets();
    expect(await rotateSecret(audit, vault, partnerId, { endpointId: other.endpointId })).toBe('rotated');
    const [now = '', previous] = await other.secrets();
    expect([previous, now === old]).toEqual([old, false]);
    await pay();
    await other.untilRecorded(1);
    const { headers, body } = other.receiver.received[0]!;
    const nowSec = Math.floor(clock.nowMs() / 1_000);
    const verify = (one: string) =>
      verifySignature(one, headers['x-service-signature'] as string, body, nowSec);
    expect([now, old, secret].map(verify)).toEqual([true, true, false]);
    const { endpointId } = other;
    const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, { endpointId });
    expect(result).toMatchObject({ outcome: 'checked', check: { canReceive: true } });
    expect(other.receiver.received.length).toBeGreaterThan(1);
  });
});

describe('an endpoint that does not answer', () => {
  test('delays no other endpoint of its partner', async ({ partner: { partnerId, receiver, pay } }) => {
    const [slow, healthy] = [await add(partnerId), await add(partnerId)];
    slow.receiver.answer(hanging);
    const paid: string[] = [];
    for (let event = 0; event < 8; event++) paid.push(await pay());
    await untilReceived(clock, receiver, 8);
    await healthy.untilRecorded(8);
    expect(healthy.paymentsReceived().toSorted()).toEqual(paid);
    expect(slow.receiver.received.length).toBeLessThanOrEqual(2);
  });

  test('is suspended alone after three events', async ({ partner: { partnerId, receiver, pay } }) => {
    const bad = await add(partnerId);
    bad.receiver.answer(withStatus(503));
    await world.failEvents(3, pay, bad.endpointId, bad.untilRecorded);
    await untilReceived(clock, receiver, 3);
    const states = (await listWebhooks(pool, partnerId)).map(({ state, givenUp }) => [state, givenUp]);
    expect(states).toEqual([
      ['active', 0],
      ['suspended', 3],
    ]);
    expect(await noticesOf(partnerId)).toEqual([...Array(3).fill('delivery_failed'), 'sending_suspended']);
    const alarms = (await listAlarms(pool, { cleared: false })).filter(
      ({ subject }) => subject === bad.endpointId,
    );
    expect(alarms).toMatchObject([{ kind: 'webhook_suspended' }]);
  });
});

test('an event that is sent again goes to the endpoint that is named; without a name the answer asks which one', async () => {
  const { partnerId, receiver, pay } = await newPartner();
  const other = await add(partnerId);
  await add(partnerId, { mode: 'live' });
  await pay();
  await untilReceived(clock, receiver, 1);
  await other.untilRecorded(1);
  const eventId = BigInt(other.receiver.received[0]!.json.id.slice(4));
  const unclear = await resendEvent(audit, eventId);
  expect(unclear).toMatchObject({ outcome: 'several_endpoints' });
  expect(unclear.outcome === 'several_endpoints' && unclear.endpoints).toHaveLength(2);
  const { endpointId } = other;
  expect(await resendEvent(audit, eventId, { endpointId })).toMatchObject({ outcome: 'queued', endpointId });
  world.delivery.runNow();
  await other.untilRecorded(2);
  expect(receiver.received).toHaveLength(1);
  expect(await removeEndpoint(audit, { partnerId, endpointId })).toBe('removed');
  expect(await resendEvent(audit, eventId, { endpointId })).toEqual({ outcome: 'no_webhook' });
});

test('a payment is archived only when no endpoint waits for its event', async () => {
  const { partnerId, receiver, pay } = await newPartner();
  const other = await add(partnerId);
  other.receiver.answer(withStatus(500));
  const paymentId = await pay();
  await untilReceived(clock, receiver, 1);
  await other.untilRecorded(1);
  const archivable = async () =>
    (await pool.query('SELECT FROM archivable_payments WHERE id = $1', [uuidFromId(paymentId as never)]))
      .rowCount;
  await world.untilRecorded(partnerId, 2);
  expect(await archivable()).toBe(0);
  await removeEndpoint(audit, { partnerId, endpointId: other.endpointId });
  expect(await archivable()).toBe(1);
});
