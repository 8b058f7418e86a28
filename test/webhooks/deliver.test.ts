import { randomUUID } from 'node:crypto';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { announcePresence } from '../../src/db/presence.ts';
import { endAttempts } from '../../src/webhooks/delivery/deliveries.ts';
import {
  certify,
  createSender,
  createVault,
  findWebhook,
  listAttempts,
  pruneLog,
  readSecrets,
  reEnable,
  resendEvent,
  resendFailed,
  rotateSecret,
  setWebhook,
  startDelivery,
  verifySignature,
} from '../../src/webhooks/index.ts';
import { createCustomer, newLink, partnerAt, secretKey, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { hanging, type Receiver, startReceiver, withStatus } from '../helpers/receiver.ts';

const { pool } = await createDatabase();
const clock = manualClock();
const { address, deps: apiDeps } = await startApi({ pool, clock });
const audit = auditContextOf(pool, clock);
const vault = createVault(secretKey);
const sender = createSender({ allowPrivate: true, timeoutMs: 1_000 });
const pausesSec = [0, 10, 30, 120, 300, 900, 3_600, 10_800, 21_600];
const deps = { ...apiDeps, vault, sender, webhookRetryScheduleSec: pausesSec };
afterAll(() => sender.close());

let delivery = startDelivery(deps);
afterEach(async () => {
  await delivery.stop();
  delivery = startDelivery(deps);
});
afterAll(() => delivery.stop());
beforeEach(() => setRate(pool, clock));

/** A partner with a receiver, and a way to make events. */
async function newPartner() {
  const { partnerId, testKey } = await createCustomer(pool);
  const receiver = await startReceiver();
  await setWebhook(audit, vault, partnerId, receiver.url);
  const partner = partnerAt(address, testKey);
  const pay = async (kopecks = 10_000): Promise<Id<'pay'>> => {
    const { id, status } = (await partner.pay({ qr_url: newLink(kopecks) }, randomUUID())).json;
    expect(status).not.toBe('processing');
    return id;
  };
  const [secret = ''] = await readSecrets(pool, vault, partnerId, clock.nowMs());
  return { partnerId, receiver, partner, pay, secret };
}

const untilReceived = ({ received }: Receiver, count: number) =>
  vi.waitFor(() => expect(received.length).toBeGreaterThanOrEqual(count), { timeout: 5_000, interval: 5 });
const untilRecorded = (partnerId: Id<'prt'>, count: number) =>
  vi.waitFor(async () => expect(await listAttempts(pool, partnerId, 1_000)).toHaveLength(count), {
    timeout: 5_000,
    interval: 5,
  });
const noticesOf = async (partnerId: Id<'prt'>) =>
  (
    await pool.query(
      `SELECT kind FROM partner_notices WHERE partner_id = $1 AND kind <> 'key_created' ORDER BY id`,
      [uuidFromId(partnerId)],
    )
  ).rows.map(({ kind }) => kind);

/** Turns the clock through all pauses, so that the event is given up. */
async function exhaust(partnerId: Id<'prt'>, recordedBefore: number): Promise<void> {
  for (const [index, pauseSec] of pausesSec.entries()) {
    clock.advance(pauseSec * 1_000);
    delivery.nudge();
    await untilRecorded(partnerId, recordedBefore + index + 1);
  }
}

describe('what is sent', () => {
  test('is the contract to the letter, and what GET and the feed say byte for byte', async () => {
    const { receiver, partner, pay, secret, partnerId } = await newPartner();
    const ids = [await pay(), await pay(10_001)];
    await untilReceived(receiver, 2);
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
      // The clock of the test stands still, and theirs does not.
      const far = 10 ** 9;
      expect(Stripe.webhooks.constructEvent(body, signature, secret, far)).toEqual(json);
      expect(() => Stripe.webhooks.constructEvent(`${body} `, signature, secret, far)).toThrow(/signature/i);
    }
    await untilRecorded(partnerId, 2);
    expect((await findWebhook(pool, partnerId))!.waiting).toBe(0);
  });

  test('after a rotation carries both signatures for a day, and then one', async () => {
    const { receiver, pay, secret: old, partnerId } = await newPartner();
    await rotateSecret(audit, vault, partnerId);
    const [fresh = '', ...others] = await readSecrets(pool, vault, partnerId, clock.nowMs());
    expect([others, fresh === old]).toEqual([[old], false]);
    const verify = ({ headers, body }: Receiver['received'][0], secret: string) =>
      verifySignature(
        secret,
        headers['x-service-signature'] as string,
        body,
        Math.floor(clock.nowMs() / 1_000),
      );
    await pay();
    await untilReceived(receiver, 1);
    expect([old, fresh].map(secret => verify(receiver.received[0]!, secret))).toEqual([true, true]);
    clock.advance(24 * 3_600_000);
    await setRate(pool, clock);
    await pay();
    await untilReceived(receiver, 2);
    expect([old, fresh].map(secret => verify(receiver.received[1]!, secret))).toEqual([false, true]);
    expect(receiver.received[1]!.headers['x-service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  test('secrets are stored sealed, and only for their partner', async () => {
    const [one, other] = [await newPartner(), await newPartner()];
    const { rows } = await pool.query('SELECT secret FROM webhooks WHERE partner_id = $1', [
      uuidFromId(one.partnerId),
    ]);
    expect(rows[0].secret.includes(one.secret.slice(6))).toBe(false);
    expect(vault.open(rows[0].secret, one.partnerId)).toBe(one.secret);
    expect(() => vault.open(rows[0].secret, other.partnerId)).toThrow();
    expect(one.secret).toMatch(/^whsec_[\w-]{43}$/);
  });

  test('nothing without a webhook, and nothing of before it was set', async () => {
    const { partnerId, testKey } = await createCustomer(pool);
    const partner = partnerAt(address, testKey);
    await partner.pay({ qr_url: newLink(10_000) });
    const receiver = await startReceiver();
    await setWebhook(audit, vault, partnerId, receiver.url);
    const { id } = (await partner.pay({ qr_url: newLink(10_000) })).json;
    await untilReceived(receiver, 1);
    expect(receiver.received.map(({ json }) => json.data.id)).toEqual([id]);
  });
});

describe('a receiver that does not take it', () => {
  test('is asked nine times at the pauses of the contract, always the same event, signed anew', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(withStatus(500));
    await pay();
    for (const [index, pauseSec] of pausesSec.entries()) {
      clock.advance(pauseSec * 1_000 - 1);
      delivery.nudge();
      clock.advance(1);
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
    clock.advance(86_400_000);
    delivery.nudge();
    receiver.answer(withStatus(200));
    await resendFailed(audit, new Date(0), () => {});
    await untilRecorded(partnerId, 10);
    expect(await findWebhook(pool, partnerId)).toMatchObject({ waiting: 0, givenUp: 0 });
  });

  test.each([
    [
      'redirects',
      (response: import('node:http').ServerResponse) =>
        void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      { status: 302, error: null },
    ],
    ['answers 199 or 300 something', withStatus(304), { status: 304, error: null }],
    ['hangs', hanging, { status: null, error: 'timeout' }],
    [
      'closes',
      (response: import('node:http').ServerResponse) => void response.destroy(),
      { status: null, error: 'closed' },
    ],
  ])('and %s is asked again later', async (_case, how, expected) => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(how);
    await pay();
    await untilRecorded(partnerId, 1);
    receiver.answer(withStatus(204));
    clock.advance(10_000);
    delivery.nudge();
    await untilRecorded(partnerId, 2);
    const [second, first] = await listAttempts(pool, partnerId, 10);
    expect([first, second]).toMatchObject([expected, { status: 204, attempt: 2 }]);
  });

  test('three events in a row: sending is suspended, events are kept, a check sends them in order', async () => {
    const { receiver, pay, partnerId, secret } = await newPartner();
    receiver.answer(withStatus(503));
    let recorded = 0;
    for (let event = 0; event < 3; event++) {
      await setRate(pool, clock);
      await pay();
      await exhaust(partnerId, recorded);
      recorded += 9;
    }
    expect(await findWebhook(pool, partnerId)).toMatchObject({ state: 'suspended', waiting: 0, givenUp: 3 });
    expect(await noticesOf(partnerId)).toEqual([...Array(3).fill('delivery_failed'), 'sending_suspended']);
    const alarms = async () =>
      (await listAlarms(pool, { cleared: false })).filter(({ subject }) => subject === partnerId);
    expect(await alarms()).toMatchObject([{ kind: 'webhook_suspended' }]);

    await setRate(pool, clock);
    const kept: string[] = [];
    for (let event = 0; event < 20; event++) kept.push(await pay());
    const before = receiver.received.length;
    receiver.answer(withStatus(200));
    clock.advance(3_600_000);
    delivery.nudge();
    // Another partner's event shows that the sender has been at work since.
    const other = await newPartner();
    await setRate(pool, clock);
    await other.pay();
    await untilReceived(other.receiver, 1);
    expect(receiver.received).toHaveLength(before);
    expect((await findWebhook(pool, partnerId))!.waiting).toBe(20);

    const certificate = await certify({ clock, sender }, { url: receiver.url, secrets: [secret] });
    expect(certificate.canReceive).toBe(true);
    expect(await reEnable(audit, partnerId)).toBe('re_enabled');
    expect(await reEnable(audit, partnerId)).toBe('not_suspended');
    delivery.nudge();
    await untilRecorded(partnerId, recorded + 20);
    expect(receiver.received.slice(before + 5).map(({ json }) => json.data.id)).toEqual(kept);
    expect([await alarms(), (await noticesOf(partnerId)).at(-1)]).toEqual([[], 'sending_re_enabled']);
  });

  test('what an operator sends again during a suspension goes out in the order of events, too', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    const first = await pay();
    await untilRecorded(partnerId, 1);
    const { eventId } = (await listAttempts(pool, partnerId, 1))[0]!;
    await pool.query('UPDATE webhooks SET suspended_at = $2 WHERE partner_id = $1', [
      uuidFromId(partnerId),
      new Date(clock.nowMs()),
    ]);
    const kept = [await pay(), await pay()];
    clock.advance(1_000);
    await resendEvent(audit, eventId);
    expect(await reEnable(audit, partnerId)).toBe('re_enabled');
    delivery.nudge();
    await untilRecorded(partnerId, 4);
    expect(receiver.received.map(({ json }) => json.data.id)).toEqual([first, first, ...kept]);
  });

  test('an event delivered in between: not in a row', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    let recorded = 0;
    for (const fails of [true, true, false, true, true]) {
      await setRate(pool, clock);
      receiver.answer(withStatus(fails ? 500 : 200));
      await pay();
      if (fails) await exhaust(partnerId, recorded);
      recorded += fails ? 9 : 1;
      await untilRecorded(partnerId, recorded);
    }
    expect(await findWebhook(pool, partnerId)).toMatchObject({ state: 'active', givenUp: 4 });
  });
});

describe('nothing is lost', () => {
  test('a process that dies after sending and before recording: another sends it again', async () => {
    await delivery.stop();
    const { receiver, pay, partnerId } = await newPartner();
    const presence = await announcePresence(pool);
    let isDead = false;
    const db = {
      query: (statement: { name?: string }) => {
        isDead ||= statement.name === 'deliveries_end';
        return isDead ? new Promise<never>(() => {}) : pool.query(statement as never);
      },
    } as typeof deps.db;
    startDelivery({ ...deps, db, presence });
    await pay();
    await untilReceived(receiver, 1);
    delivery = startDelivery(deps);
    await presence.close();
    await untilReceived(receiver, 2);
    await untilRecorded(partnerId, 1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  test('a process that hangs loses its partners when its lease is over', async () => {
    await delivery.stop();
    const { receiver, pay, partnerId } = await newPartner();
    const presence = await announcePresence(pool);
    await pay();
    await pool.query(`UPDATE webhooks SET lease_holder = $2, leased_until = $3 WHERE partner_id = $1`, [
      uuidFromId(partnerId),
      presence.instance,
      new Date(clock.nowMs() + 30_000),
    ]);
    delivery = startDelivery(deps);
    const other = await newPartner();
    await other.pay();
    await untilReceived(other.receiver, 1);
    expect(receiver.received).toHaveLength(0);
    clock.advance(30_000);
    await untilReceived(receiver, 1);
    await presence.close();
  });

  test('two processes share the partners, and each event is sent once', async () => {
    const presence = await announcePresence(pool);
    const second = startDelivery({ ...deps, presence });
    const partners = await Promise.all(Array.from({ length: 6 }, newPartner));
    await Promise.all(partners.flatMap(({ pay }) => Array.from({ length: 10 }, () => pay())));
    await Promise.all(partners.map(({ partnerId }) => untilRecorded(partnerId, 10)));
    for (const { receiver } of partners) expect(receiver.received).toHaveLength(10);
    await second.stop();
    await presence.close();
  });

  test('stopping does not wait for a receiver that hangs, and the event stays', async () => {
    const slow = createSender({ allowPrivate: true });
    await delivery.stop();
    delivery = startDelivery({ ...deps, sender: slow });
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(hanging);
    await pay();
    await untilReceived(receiver, 1);
    const startedAt = performance.now();
    await delivery.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await listAttempts(pool, partnerId, 10)).toEqual([]);
    receiver.answer(withStatus(200));
    delivery = startDelivery(deps);
    await untilRecorded(partnerId, 1);
    expect(receiver.received).toHaveLength(2);
    await slow.close();
  });
});

describe('no one is left behind:', () => {
  test('a partner that could not be given away is served on', async () => {
    await delivery.stop();
    let refuses = true;
    const db = {
      query: (statement: { name?: string }) =>
        refuses && statement.name === 'give away webhooks'
          ? Promise.reject(new Error('locked'))
          : pool.query(statement as never),
    } as typeof deps.db;
    const { receiver, pay, partnerId } = await newPartner();
    // What was done and whose answer was lost: this process owns a partner that it does not know of.
    await pool.query('UPDATE webhooks SET lease_holder = $2, leased_until = $3 WHERE partner_id = $1', [
      uuidFromId(partnerId),
      deps.presence.instance,
      new Date(clock.nowMs() + 3_600_000),
    ]);
    await pay();
    delivery = startDelivery({ ...deps, db });
    await untilReceived(receiver, 1);
    refuses = false;
  });

  test('new events do not put off the next attempt at an old one', async () => {
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

  test('a secret that cannot be opened holds up its partner only', async () => {
    const [broken, fine] = [await newPartner(), await newPartner()];
    await pool.query(`UPDATE webhooks SET secret = '\\x00'::bytea WHERE partner_id = $1`, [
      uuidFromId(broken.partnerId),
    ]);
    await Promise.all([broken.pay(), fine.pay()]);
    await untilReceived(fine.receiver, 1);
    await vi.waitFor(async () =>
      expect(
        (await listAlarms(pool, { cleared: false })).map(({ kind, subject }) => [kind, subject]),
      ).toContainEqual(['webhook_secret_unreadable', broken.partnerId]),
    );
    expect(broken.receiver.received).toEqual([]);
    await rotateSecret(audit, vault, broken.partnerId);
  });

  test('what an operator sends again is not given up by an attempt from before', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    receiver.answer(hanging);
    await pay();
    await untilReceived(receiver, 1);
    const { rows } = await pool.query(
      'UPDATE deliveries SET attempts = 8 WHERE partner_id = $1 RETURNING event_id',
      [uuidFromId(partnerId)],
    );
    await resendEvent(audit, rows[0].event_id);
    await endAttempts(
      pool,
      [
        {
          ...{ partnerId, eventId: rows[0].event_id, attempt: 9, delivered: false, hung: true },
          ...{ status: null, error: 'timeout', durationMs: 1_000, nextAt: null, at: new Date(clock.nowMs()) },
        },
      ],
      'suspended',
    );
    expect(await findWebhook(pool, partnerId)).toMatchObject({ waiting: 1, givenUp: 0 });
    receiver.answer(withStatus(200));
  });
});

test('receivers that hang do not hold up those that answer', async () => {
  const slow = createSender({ allowPrivate: true });
  await delivery.stop();
  delivery = startDelivery({ ...deps, sender: slow });
  const [dead, alive] = [
    await Promise.all(Array.from({ length: 10 }, newPartner)),
    await Promise.all(Array.from({ length: 10 }, newPartner)),
  ];
  for (const { receiver } of dead) receiver.answer(hanging);
  await Promise.all(dead.flatMap(({ pay }) => [pay(), pay(), pay()]));
  await Promise.all(dead.map(({ receiver }) => untilReceived(receiver, 1)));
  await Promise.all(alive.flatMap(({ pay }) => Array.from({ length: 10 }, () => pay())));
  await Promise.all(alive.map(({ partnerId }) => untilRecorded(partnerId, 10)));
  // Each of the dead has one attempt under way and no more, however much is due.
  expect(dead.map(({ receiver }) => receiver.received.length)).toEqual(dead.map(() => 1));
  await delivery.stop();
  delivery = startDelivery(deps);
  await slow.close();
});

describe('the feed', () => {
  test('pages in order, for its mode only, and refuses what is no event', async () => {
    const { partner, pay, receiver } = await newPartner();
    const ids = [await pay(), await pay(), await pay()];
    await untilReceived(receiver, 3);
    const first = (await partner.get('/v1/events?limit=2')).json;
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    const rest = (await partner.get(`/v1/events?limit=2&after=${first.next_cursor}`)).json;
    expect([...first.data, ...rest.data].map(({ data }) => data.id)).toEqual(ids);
    const end = (await partner.get(`/v1/events?after=${rest.next_cursor}`)).json;
    expect(end).toMatchObject({ data: [], has_more: false, next_cursor: rest.next_cursor });
    for (const wrong of ['evt_x', '17', 'evt_-1', 'evt_99999999999999999999', 'pay_1'])
      expect((await partner.get(`/v1/events?after=${wrong}`)).status).toBe(422);
    for (const limit of ['0', '101', 'x'])
      expect((await partner.get(`/v1/events?limit=${limit}`)).status).toBe(422);
  });

  test('never skips an event that was committed late', async () => {
    const { partner, pay } = await newPartner();
    const [seen, made] = [new Set<string>(), new Set<string>()];
    let paying = true;
    const reading = (async () => {
      let after = 'evt_0';
      for (let last = false; !last; ) {
        last = !paying;
        const page = (await partner.get(`/v1/events?limit=7&after=${after}`)).json;
        for (const { data } of page.data) seen.add(data.id);
        after = page.next_cursor ?? after;
        if (page.has_more) last = false;
      }
    })();
    await Promise.all(Array.from({ length: 100 }, async () => made.add(await pay())));
    paying = false;
    await reading;
    expect(seen).toEqual(made);
  });
});

describe('the log', () => {
  test('sends one event again under the same delivery id', async () => {
    const { receiver, pay, partnerId } = await newPartner();
    await pay();
    await untilRecorded(partnerId, 1);
    const { eventId } = (await listAttempts(pool, partnerId, 1))[0]!;
    expect(await resendEvent(audit, eventId)).toEqual({ outcome: 'queued', partnerId, suspended: false });
    expect(await resendEvent(audit, 10n ** 15n)).toEqual({ outcome: 'no_event' });
    delivery.nudge();
    await untilRecorded(partnerId, 2);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1);
  });

  test('forgets after thirty days', async () => {
    const { pay, partnerId } = await newPartner();
    await pay();
    await untilRecorded(partnerId, 1);
    clock.advance(30 * 86_400_000);
    await pruneLog(pool, clock);
    expect(await listAttempts(pool, partnerId, 10)).toHaveLength(1);
    clock.advance(1_000);
    expect(await pruneLog(pool, clock)).toBeGreaterThan(0);
    expect(await listAttempts(pool, partnerId, 10)).toEqual([]);
  });
});
