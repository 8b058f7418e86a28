import { beforeEach, describe, expect, test } from 'vitest';
import { AuthenticationError, Kopeck, NotFoundError, PaymentRefusedError } from '../../sdk/src/index.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';

const { pool } = await createDatabase();
const clock = manualClock();
const { address, deps } = await startApi({ pool, clock, answerWithinMs: 100 });
beforeEach(() => setRate(pool, clock));

/** A client whose sleep also moves the clock of the service. */
async function newClient() {
  const { testKey } = await createPartnerWithKeys(pool);
  const pauses: number[] = [];
  const kopeck = new Kopeck({
    apiKey: testKey,
    baseUrl: address,
    now: clock.nowMs,
    sleep: async ms => {
      pauses.push(ms);
      clock.advance(ms);
      await recoverDuePayments(deps);
    },
  });
  return { kopeck, pauses };
}

test('the eight endpoints and the events', async () => {
  const { kopeck } = await newClient();
  expect(await kopeck.ping()).toMatchObject({ ok: true, mode: 'test' });
  expect(await kopeck.balance()).toMatchObject({ balance_usdt: '10000.000000', currency: 'USDT' });
  expect(await kopeck.rate()).toMatchObject({ rate: '92.5000', stale: false });
  expect(await kopeck.quote({ amount_rub: '100' })).toMatchObject({ amount_usdt: '1.081082' });
  const qr_url = newLink(10_000);
  expect(await kopeck.qr.resolve({ qr_url })).toMatchObject({ amount_rub: '100.00', payable: true });
  const payment = await kopeck.payments.create({ qr_url, amount_rub: 100, metadata: { cart: [1, 'два'] } });
  expect(payment).toMatchObject({ status: 'succeeded', metadata: { cart: [1, 'два'] } });
  expect(await kopeck.payments.get(payment.id)).toEqual(payment);
  expect(await kopeck.payments.list().page()).toMatchObject({ data: [payment], has_more: false });
  const { data } = await kopeck.events.list();
  expect(data).toMatchObject([{ event: 'payment.succeeded', data: payment }]);
});

describe('waiting for the outcome', () => {
  test('createAndWait polls until there is one', async () => {
    const { kopeck, pauses } = await newClient();
    const payment = await kopeck.payments.createAndWait({ qr_url: newLink(10_002) });
    expect(payment.status).toBe('succeeded');
    const waitedMs = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeGreaterThanOrEqual(30_000);
    expect(waitedMs).toBeLessThanOrEqual(40_000);
    expect(pauses.length).toBeLessThan(12);
  });

  test('does not wait when the answer is final', async () => {
    const { kopeck, pauses } = await newClient();
    expect((await kopeck.payments.createAndWait({ qr_url: newLink(10_000) })).status).toBe('succeeded');
    const declined = await kopeck.payments.createAndWait({ qr_url: newLink(10_001) });
    expect(declined).toMatchObject({ status: 'failed', error: { code: 'gateway_declined' } });
    expect(pauses).toEqual([]);
  });

  test('returns an open payment when the time is over, without an error', async () => {
    const { kopeck, pauses } = await newClient();
    const payment = await kopeck.payments.createAndWait({ qr_url: newLink(10_002) }, { waitMs: 5_000 });
    expect(payment.status).toBe('processing');
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(5_000);
    expect((await kopeck.payments.wait(payment.id)).status).toBe('succeeded');
  });

  test('goes on when the service is unreachable for a while', async () => {
    const { testKey } = await createPartnerWithKeys(pool);
    let looks = 0;
    const kopeck = new Kopeck({
      apiKey: testKey,
      baseUrl: address,
      maxRetries: 0,
      now: clock.nowMs,
      sleep: async ms => {
        clock.advance(ms);
        await recoverDuePayments(deps);
      },
      fetch: (url, init) => {
        if (init.method === 'GET' && looks++ < 4) throw new TypeError('fetch failed');
        return fetch(url, init);
      },
    });
    const payment = await kopeck.payments.createAndWait({ qr_url: newLink(10_002) });
    expect(payment.status).toBe('succeeded');
    expect(looks).toBeGreaterThan(4);
  });
});

describe('the list', () => {
  test('goes over all pages, and nothing is left out or comes twice while new payments arrive', async () => {
    const { kopeck } = await newClient();
    const made: string[] = [];
    for (let count = 0; count < 12; count++) {
      clock.advance(1);
      made.unshift((await kopeck.payments.create({ qr_url: newLink(10_000) })).id);
    }
    const seen: string[] = [];
    for await (const { id } of kopeck.payments.list({ limit: 5 })) {
      seen.push(id);
      clock.advance(1);
      await kopeck.payments.create({ qr_url: newLink(10_000) });
    }
    expect(seen).toEqual(made);
  });

  test('takes filters, and can be ended by break', async () => {
    const { kopeck } = await newClient();
    for (const kopecks of [10_000, 10_001, 10_000, 10_001])
      await kopeck.payments.create({ qr_url: newLink(kopecks) });
    const failed = [];
    for await (const payment of kopeck.payments.list({ status: 'failed', limit: 1 }))
      failed.push(payment.status);
    expect(failed).toEqual(['failed', 'failed']);
    const { data, next_cursor } = await kopeck.payments.list({ limit: 3 }).page();
    expect(data).toHaveLength(3);
    const rest = await kopeck.payments.list({ starting_after: next_cursor! }).page();
    expect(rest.data).toHaveLength(1);
    for await (const _ of kopeck.payments.list({ limit: 1 })) break;
  });
});

test('errors of the service are thrown as their classes', async () => {
  const { kopeck } = await newClient();
  const unauthorized = new Kopeck({ apiKey: 'svc_test_nobody_nothing', baseUrl: address });
  await expect(unauthorized.ping()).rejects.toBeInstanceOf(AuthenticationError);
  await expect(kopeck.payments.get('pay_1')).rejects.toBeInstanceOf(NotFoundError);
  await expect(kopeck.payments.get('../ping')).rejects.toBeInstanceOf(NotFoundError);
  await expect(kopeck.payments.create({ qr_url: newLink(10_003) })).rejects.toBeInstanceOf(
    PaymentRefusedError,
  );
  await expect(kopeck.quote({} as never)).rejects.toMatchObject({
    name: 'InvalidRequestError',
    details: [{ loc: ['body', 'amount_rub'] }],
    requestId: expect.stringMatching(/^req_/),
  });
});
