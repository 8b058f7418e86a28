import { createHash } from 'node:crypto';
import { test as base, beforeEach, describe, expect } from 'vitest';
import {
  AuthenticationError,
  Kopeck,
  type KopeckOptions,
  NotFoundError,
  PaymentRefusedError,
} from '../../sdk/src/index.ts';
import { errors } from '../../src/base/errors.ts';
import { createPartnerWithKeys, newLink, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { answer, collect, scripted } from './fake.ts';

const { pool } = await createDatabase();
// Ahead of the clock of this machine: ids never go back within a process.
const clock = manualClock('2031-05-05T10:00:00.000Z');
const { address, deps } = await startApi({ pool, clock, answerWithinMs: 100 });
beforeEach(() => setRate(pool, clock));

/** A client whose sleep also moves the clock of the service. */
async function newClient(mode: 'testKey' | 'liveKey' = 'testKey', options: Partial<KopeckOptions> = {}) {
  const customer = await createPartnerWithKeys(pool);
  const pauses: number[] = [];
  const kopeck = new Kopeck({
    apiKey: customer[mode],
    baseUrl: address,
    now: clock.nowMs,
    sleep: async ms => {
      pauses.push(ms);
      clock.advance(ms);
      await setRate(pool, clock);
      await recoverDuePayments(deps);
    },
    ...options,
  });
  return { kopeck, pauses };
}
const test = base.extend('client', () => newClient());

test('the eight endpoints and the events', async ({ client: { kopeck } }) => {
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
  test('createAndWait polls until there is one', async ({ client: { kopeck, pauses } }) => {
    const payment = await kopeck.payments.createAndWait({ qr_url: newLink(10_002) });
    expect(payment.status).toBe('succeeded');
    const waitedMs = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeGreaterThanOrEqual(30_000);
    expect(waitedMs).toBeLessThanOrEqual(40_000);
    expect(pauses.length).toBeLessThan(12);
  });

  test('does not wait when the answer is final', async ({ client: { kopeck, pauses } }) => {
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
    let looks = 0;
    const { kopeck } = await newClient('testKey', {
      maxRetries: 0,
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
    for (let count = 0; count < 7; count++) {
      clock.advance(1);
      made.unshift((await kopeck.payments.create({ qr_url: newLink(10_000) })).id);
    }
    const seen: string[] = [];
    for await (const { id } of kopeck.payments.list({ limit: 3 })) {
      seen.push(id);
      clock.advance(1);
      await kopeck.payments.create({ qr_url: newLink(10_000) });
    }
    expect(seen).toEqual(made);
  });

  test('takes filters, and can be ended by break', async ({ client: { kopeck } }) => {
    const made = [];
    for (const [nth, external_id] of ['a', 'b', 'c', 'd'].entries()) {
      clock.advance(1_000);
      made.push(await kopeck.payments.create({ qr_url: newLink(10_000 + (nth % 2)), external_id }));
    }
    const [first, second, third, fourth] = made;
    expect(await collect(kopeck.payments.list({ status: 'failed', limit: 1 }))).toEqual([fourth, second]);
    const { data, next_cursor } = await kopeck.payments.list({ limit: 3 }).page();
    expect(data).toHaveLength(3);
    const rest = await kopeck.payments.list({ starting_after: next_cursor! }).page();
    expect(rest.data).toEqual([first]);
    for await (const _ of kopeck.payments.list({ limit: 1 })) break;
    expect((await kopeck.payments.list({ external_id: 'b' }).page()).data).toEqual([second]);
    const times = { created_after: new Date(second!.created_at), created_before: third!.created_at };
    expect((await kopeck.payments.list(times).page()).data).toEqual([second]);
    const before = kopeck.payments.list({ created_before: third!.created_at, limit: 1 });
    expect(await collect(before)).toEqual([second, first]);
  });
});

test('errors of the service are thrown as their classes', async ({ client: { kopeck } }) => {
  const unauthorized = new Kopeck({ apiKey: 'svc_test_nobody_nothing', baseUrl: address });
  await expect(unauthorized.ping()).rejects.toBeInstanceOf(AuthenticationError);
  await expect(kopeck.payments.get('pay_1')).rejects.toBeInstanceOf(NotFoundError);
  await expect(kopeck.payments.get('../ping')).rejects.toBeInstanceOf(NotFoundError);
  const refused = kopeck.payments.create({ qr_url: newLink(10_003) });
  await expect(refused).rejects.toBeInstanceOf(PaymentRefusedError);
  await expect(kopeck.quote({} as never)).rejects.toMatchObject({
    name: 'InvalidRequestError',
    details: [{ loc: ['body', 'amount_rub'] }],
    requestId: expect.stringMatching(/^req_/),
  });
});

test('a locked quote gives the payment its price', async ({ client: { kopeck } }) => {
  const { quote_id, amount_usdt, rate } = await kopeck.quote({ amount_rub: '100.00', lock: true });
  const paid = { qr_url: newLink(10_000), quote_id, external_id: 'locked' };
  expect(await kopeck.payments.create(paid)).toMatchObject({ status: 'succeeded', amount_usdt, rate });
  await expect(
    kopeck.payments.create({ ...paid, qr_url: newLink(10_000), external_id: 'again' }),
  ).rejects.toMatchObject({ name: 'PaymentRefusedError', code: 'quote_used', sameKey: true });
});

test('the statement of a day, in both forms with one digest', async ({ client: { kopeck } }) => {
  const payment = await kopeck.payments.create({ qr_url: newLink(10_000) });
  const day = payment.created_at.slice(0, 10);
  const books = await kopeck.statement({ day });
  expect(books).toMatchObject({ object: 'statement', day, mode: 'test', closed: false });
  expect(books.entries.at(-1)).toMatchObject({ payment_id: payment.id, after: books.closing });
  const csv = await kopeck.statement({ day, format: 'csv' });
  const lines = csv.split(/(?<=\n)/);
  expect(lines.at(-1)).toContain(books.digest);
  const digest = createHash('sha256').update(lines.slice(0, -1).join('')).digest('hex');
  expect(books.digest).toBe(`sha256:${digest}`);
  await expect(kopeck.statement({ day: 'yesterday' })).rejects.toMatchObject({ name: 'InvalidRequestError' });
});

test('the test clock brings outcomes forward, with a test key only', async ({ client: { kopeck } }) => {
  const { id } = await kopeck.payments.create({ qr_url: newLink(10_002) });
  expect(await kopeck.test.clock.get()).toMatchObject({ advanced_sec: 0 });
  expect(await kopeck.test.clock.advance({ seconds: 30 })).toMatchObject({ advanced_sec: 30 });
  await recoverDuePayments(deps);
  expect((await kopeck.payments.get(id)).status).toBe('succeeded');
  const live = await newClient('liveKey');
  await expect(live.kopeck.test.clock.advance({ seconds: 30 })).rejects.toMatchObject({
    name: 'PermissionError',
  });
});

test('a simulated deposit credits the test balance once', async ({ client: { kopeck } }) => {
  const before = Number((await kopeck.balance()).balance_usdt);
  const deposit = { amount_usdt: '250', reference: 'top-up-1' };
  for (const _ of [1, 2])
    expect(await kopeck.test.deposits.create(deposit)).toMatchObject({ amount_usdt: '250.000000' });
  expect(Number((await kopeck.balance()).balance_usdt) - before).toBe(250);
});

test('a simulated refund returns money of a test payment once', async ({ client: { kopeck } }) => {
  const { id } = await kopeck.payments.createAndWait({ qr_url: newLink(10_000), external_id: 'refunded' });
  const refund = { payment_id: id, amount_rub: '40.00', reference: 'refund-1' };
  for (const _ of [1, 2])
    expect(await kopeck.test.refunds.create(refund)).toMatchObject({ refunded_rub: '40.00' });
  expect((await kopeck.payments.get(id)).refunded_rub).toBe('40.00');
});

describe('simulated failures', () => {
  const pay = (kopeck: Kopeck, kopeck_scenario: string) =>
    kopeck.payments.createAndWait(
      { qr_url: newLink(10_000), external_id: kopeck_scenario, metadata: { kopeck_scenario } },
      { waitMs: 300_000 },
    );

  test.each([
    ['answer_lost', 'succeeded'],
    ['unavailable_twice', 'succeeded'],
    ['review_succeeds', 'succeeded'],
    ['review_fails', 'failed'],
  ])('%s ends as %s, paid once', async (scenario, status) => {
    const { kopeck, pauses } = await newClient();
    const payment = await pay(kopeck, scenario);
    expect(payment.status).toBe(status);
    expect(pauses.length).toBeGreaterThan(0);
    expect((await kopeck.payments.list({ external_id: scenario }).page()).data).toEqual([payment]);
  });

  test('rate_stale stays, and the error has the advice', async ({ client: { kopeck, pauses } }) => {
    await expect(pay(kopeck, 'rate_stale')).rejects.toMatchObject({
      name: 'ServiceUnavailableError',
      code: 'rate_unavailable',
      retryable: errors.rate_unavailable.retryable,
      sameKey: errors.rate_unavailable.same_key,
    });
    expect(pauses).toHaveLength(5);
  });
});

test('the feed has refunds if it is asked for them', async () => {
  const page = { data: [], has_more: false, next_cursor: 'evt_0', request_id: 'req_1' };
  const { kopeck, requests } = scripted([answer(200, page)]);
  for (const extraEvents of [undefined, 'payment.refunded'] as const)
    expect(await collect(kopeck.events.read({ extraEvents, follow: false }))).toEqual([]);
  const asked = requests.map(({ url }) => new URL(url).search);
  expect(asked).toEqual(['?limit=100', '?limit=100&extra_events=payment.refunded']);
});
