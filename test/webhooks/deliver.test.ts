import type { ServerResponse } from 'node:http';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { checkReceiver, reEnable } from '../../src/webhooks/admin/check.ts';
import {
  findDelivery,
  findWebhook,
  listAttempts,
  readSecrets,
  resendFailed,
  rotateSecret,
  setWebhook,
} from '../../src/webhooks/index.ts';
import { createPartnerWithKeys, newLink, partnerAt, setRate } from '../helpers/api.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { verifySignature } from '../helpers/signature.ts';
import { hanging, type Receiver, startReceiver, withStatus } from '../helpers/webhook-receiver.ts';
import { pausesSec, startDeliveryWorld, untilReceived } from './delivery-world.ts';

const world = await startDeliveryWorld();
const { pool, clock, address, audit, vault, sender, deps, newPartner, untilRecorded, noticesOf } = world;

describe('what is sent', () => {
  test('follows the contract, and equals the answers of GET and the feed byte for byte', async () => {
    const { receiver, partner, pay, secret, partnerId } = await newPartner();
    const ids = [await pay(), await pay(10_001)];
    await untilReceived(clock, receiver, 2);
    const feed = await partner.get('/v1/events');
    for (const [index, { headers, body, json, path }] of receiver.received.entries()) {
      const payment = await partner.get(`/v1/payments/${ids[index]}`);
      const kind = index === 0 ? 'payment.succeeded' : 'payment.failed';
      expect(path).toBe('/hook');
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-service-event': kind,
        'x-service-delivery': expect.stringMatching(/^whd_[0-7][0-9a-z]{25}$/),
        'x-service-payment-id': ids[index],
        'x-service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
      });
      expect(Object.keys(json)).toEqual(['id', 'event', 'created_at', 'data']);
      expect(json).toMatchObject({ id: expect.stringMatching(/^evt_\d+$/), event: kind });
      expect(json.created_at).toBe(json.data.settled_at);
      expect(body.endsWith(`"data":${payment.text}}`)).toBe(true);
      expect(feed.text).toContain(body);

      const signature = headers['x-service-signature'] as string;
      const nowSec = Math.floor(clock.nowMs() / 1_000);
      expect(verifySignature(secret, signature, body, nowSec)).toBe(true);
      for (const offSec of [-301, 301])
        expect(verifySignature(secret, signature, body, nowSec + offSec)).toBe(false);
      expect(verifySignature(`${secret}x`, signature, body, nowSec)).toBe(false);
      expect(verifySignature(secret, signature, `${body} `, nowSec)).toBe(false);
      // The clock of the test stands still; that of the receivers does not.
      const far = 10 ** 9;
      expect(Stripe.webhooks.constructEvent(body, signature, secret, far)).toEqual(json);
      expect(() => Stripe.webhooks.constructEvent(`${body} `, signature, secret, far)).toThrow(/signature/i);
    }
    await untilRecorded(partnerId, 2);
    expect((await findWebhook(pool, partnerId))!.waiting).toBe(0);
  });

  test('what the endpoint answers is kept if it did not accept the event', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(response => void response.writeHead(500).end('out of stock'));
    await pay();
    await untilRecorded(partnerId, 1);
    receiver.answer(response => void response.end('thank you'));
    await world.later(pausesSec[1]! * 1_000);
    await untilRecorded(partnerId, 2);
    const [last] = await listAttempts(pool, partnerId, 1);
    const { attempts } = (await findDelivery(pool, partnerId, last!.eventId))!;
    expect(attempts.map(({ responseBody }) => responseBody)).toEqual(['out of stock', null]);
  });

  test('after a rotation carries both signatures for a day, and then one', async () => {
    const { receiver, pay, secret: old, partnerId } = await newPartner();
    await rotateSecret(audit, vault, partnerId);
    const [fresh = '', ...others] = await readSecrets(pool, vault, partnerId, clock.nowMs());
    expect([others, fresh === old]).toEqual([[old], false]);
    const nowSec = () => Math.floor(clock.nowMs() / 1_000);
    const verify = ({ headers, body }: Receiver['received'][0], secret: string) =>
      verifySignature(secret, `${headers['x-service-signature']}`, body, nowSec());
    await pay();
    await untilReceived(clock, receiver, 1);
    expect([old, fresh].map(secret => verify(receiver.received[0]!, secret))).toEqual([true, true]);
    await world.later(24 * 3_600_000);
    await setRate(pool, clock);
    await pay();
    await untilReceived(clock, receiver, 2);
    expect([old, fresh].map(secret => verify(receiver.received[1]!, secret))).toEqual([false, true]);
    expect(receiver.received[1]!.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  test('secrets are stored sealed, and only for their partner', async () => {
    const [one, other] = [await newPartner(), await newPartner()];
    const { rows } = await pool.query('SELECT secret FROM endpoints WHERE endpoint_id = $1', [
      uuidFromId(one.partnerId),
    ]);
    expect(rows[0].secret.includes(one.secret.slice(6))).toBe(false);
    expect(vault.decrypt(rows[0].secret, one.partnerId)).toBe(one.secret);
    expect(() => vault.decrypt(rows[0].secret, other.partnerId)).toThrow();
    expect(one.secret).toMatch(/^whsec_[A-Za-z0-9]{44}$/);
  });

  test('nothing without a webhook, and no event from before it was set', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const partner = partnerAt(address, testKey);
    await partner.pay({ qr_url: newLink(10_000) });
    const receiver = await startReceiver();
    await setWebhook(audit, vault, partnerId, receiver.url);
    const { id } = (await partner.pay({ qr_url: newLink(10_000) })).json;
    await untilReceived(clock, receiver, 1);
    expect(receiver.received.map(({ json }) => json.data.id)).toEqual([id]);
  });
});

describe('a receiver that does not accept it', () => {
  test('gets nine attempts by the retry schedule of the contract, the same event with a new signature', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(withStatus(500));
    await pay();
    for (const [index, pauseSec] of pausesSec.entries()) {
      await world.later(pauseSec * 1_000 - 1);
      await clock.advance(1);
      await untilRecorded(partnerId, index + 1);
    }
    const attempts = (await listAttempts(pool, partnerId, 100)).toReversed();
    const gaps = attempts.map(
      ({ at }, index) => (at.getTime() - (attempts[index - 1] ?? attempts[0]!).at.getTime()) / 1_000,
    );
    expect(gaps).toEqual(pausesSec);
    expect(attempts.map(({ attempt, status, error }) => [attempt, status, error])).toEqual(
      pausesSec.map((_pause, index) => [index + 1, 500, null]),
    );
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-signature'])).size).toBe(9);
    expect(await noticesOf(partnerId)).toEqual(['delivery_failed']);
    expect(await findWebhook(pool, partnerId)).toMatchObject({ state: 'active', waiting: 0, givenUp: 1 });
    await world.later(86_400_000);
    receiver.answer(withStatus(200));
    await resendFailed(audit, new Date(0), () => {});
    await untilRecorded(partnerId, 10);
    expect(await findWebhook(pool, partnerId)).toMatchObject({ waiting: 0, givenUp: 0 });
  });

  test.each<[string, (response: ServerResponse) => void, object]>([
    ['redirects', withStatus(302), { status: 302, error: null }],
    ['hangs', hanging, { status: null, error: 'timeout' }],
    ['closes', response => void response.destroy(), { status: null, error: 'closed' }],
  ])('and %s is asked again later', async (_case, how, expected) => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(how);
    await pay();
    await untilReceived(clock, receiver, 1);
    if (how === hanging) await clock.advance(10_000);
    await untilRecorded(partnerId, 1);
    receiver.answer(withStatus(204));
    await world.later(10_000);
    await untilRecorded(partnerId, 2);
    const [second, first] = await listAttempts(pool, partnerId, 10);
    expect([first, second]).toMatchObject([expected, { status: 204, attempt: 2 }]);
  });

  test('three events in a row: sending is suspended, events are kept, a check sends them in order', async () => {
    const { receiver, partner, pay, partnerId, endpoint, secret, paymentsReceived } = await newPartner();
    receiver.answer(withStatus(503));
    const untilOf = (count: number) => untilRecorded(partnerId, count);
    const recorded = await world.failEvents(3, pay, endpoint.endpointId, untilOf);
    expect(await findWebhook(pool, partnerId)).toMatchObject({ state: 'suspended', waiting: 0, givenUp: 3 });
    expect(await noticesOf(partnerId)).toEqual([...Array(3).fill('delivery_failed'), 'sending_suspended']);
    const alarms = async () =>
      (await listAlarms(pool, { cleared: false })).filter(({ subject }) => subject === partnerId);
    expect(await alarms()).toMatchObject([{ kind: 'webhook_suspended' }]);

    await setRate(pool, clock);
    const kept: string[] = [];
    for (let event = 0; event < 10; event++) kept.push(await pay());
    // The last one ends some time after it was opened.
    const later = (await partner.pay({ qr_url: newLink(10_002) })).json;
    expect(later.status).toBe('processing');
    await clock.advance(30_000);
    await recoverDuePayments(deps);
    kept.push(later.id);
    const before = receiver.received.length;
    receiver.answer(withStatus(200));
    await world.later(3_600_000);
    // The event of another partner proves that the sender has run since.
    const other = await newPartner();
    await setRate(pool, clock);
    await other.pay();
    await untilReceived(clock, other.receiver, 1);
    expect(receiver.received).toHaveLength(before);
    expect((await findWebhook(pool, partnerId))!.waiting).toBe(kept.length);

    const check = await checkReceiver({ clock, sender }, { url: receiver.url, secrets: [secret] });
    expect(check.canReceive).toBe(true);
    expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('re_enabled');
    expect(await reEnable(audit, (await findWebhook(pool, partnerId))!)).toBe('not_suspended');
    world.delivery.runNow();
    await untilRecorded(partnerId, recorded + kept.length);
    expect(paymentsReceived().slice(before + 5)).toEqual(kept);
    expect([await alarms(), (await noticesOf(partnerId)).at(-1)]).toEqual([[], 'sending_re_enabled']);
  });

  test('an event delivered in between: not in a row', async () => {
    const { receiver, pay, partnerId, endpoint } = await newPartner();
    let recorded = 0;
    for (const fails of [true, true, false, true, true]) {
      await setRate(pool, clock);
      receiver.answer(withStatus(fails ? 500 : 200));
      await pay();
      recorded += 1;
      await untilRecorded(partnerId, recorded);
      if (!fails) continue;
      await world.makeLastAttempt(endpoint.endpointId);
      recorded += 1;
      await untilRecorded(partnerId, recorded);
    }
    expect(await findWebhook(pool, partnerId)).toMatchObject({ state: 'active', givenUp: 4 });
  });
});
