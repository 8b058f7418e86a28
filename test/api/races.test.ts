import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import { topUp, verifyLedger } from '../../src/ledger/index.ts';
import { listKeys, revokeKey, setLimits, setSuspended } from '../../src/partners/index.ts';
import {
  type Answer,
  createPartnerWithKeys,
  issueKey,
  newLink,
  partnerAt,
  secretKey,
} from '../helpers/api.ts';
import { startService } from '../helpers/cli.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

const { pool, url } = await createDatabase();
const token = 'a-token-of-the-gateway';
const simulator = await startSimulator({ GATEWAY_TOKEN: token });
const env = {
  DATABASE_URL: url,
  GATEWAY_URL: simulator.address,
  GATEWAY_TOKEN: token,
  RATE_SOURCES: 'fixed:92.50',
  RATE_SPREAD_BPS: '0',
  SECRET_KEY: secretKey,
  ROLES: 'api,worker',
};
const services = await Promise.all([startService(env), startService(env)]);
afterAll(() => Promise.all(services.map(service => service.stop())));
await vi.waitFor(
  async () => expect((await pool.query('SELECT FROM rates')).rowCount).toBeGreaterThan(0),
  10_000,
);

/** The same key at both processes. */
const atBoth = (key: string) => services.map(({ address }) => partnerAt(address, key));
/** Concurrent requests, alternating between both processes. */
function together(
  key: string,
  count: number,
  ask: (partner: ReturnType<typeof partnerAt>, index: number) => Promise<Answer>,
) {
  const partners = atBoth(key);
  return Promise.all(Array.from({ length: count }, (_, index) => ask(partners[index % 2]!, index)));
}
const codeOf = ({ status, json }: Answer) => `${status} ${json.error?.code ?? json.status ?? 'ok'}`;
const countCodes = (answers: Answer[]) =>
  Object.fromEntries(Array.from(Map.groupBy(answers, codeOf), ([code, group]) => [code, group.length]));

const allOrders = async () => {
  const { body } = await simulator.call('GET', '/orders?limit=1000', undefined, token);
  return body.orders as { payment_id: string; qrc_id: string; state: string }[];
};

/** After every test: the ledger is valid, and the bank has paid exactly the payments that partners see as paid. */
afterEach(async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM payments WHERE mode = 'live' AND status = 'succeeded'`,
  );
  const paid = (await allOrders()).filter(({ state }) => state === 'succeeded');
  const ids = rows.map(({ id }) => idFromUuid('pay', id) as string);
  expect(paid.map(order => order.payment_id).toSorted()).toEqual(ids.toSorted());
});

const linkOf = async (fields: object = {}) => (await makeQr(simulator, fields)).link as string;

describe('two processes:', () => {
  // 150 rubles at 92.50.
  const priceMicroUsdt = 1_621_622n;

  test.each(['live', 'test'] as const)(
    '200 payments at once with balance for one: one is paid (%s)',
    async mode => {
      const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool, priceMicroUsdt);
      await setLimits(auditContextOf(pool), partnerId, { concurrent: 1_000, maxKopecks: 100_000_000n });
      const key = mode === 'live' ? liveKey : testKey;
      const links = await Promise.all(
        Array.from({ length: 200 }, () => (mode === 'live' ? linkOf() : newLink(15_000))),
      );
      if (mode === 'test') {
        // Every test balance starts with 10 000 USDT: all but the price of one payment is removed first.
        const rest = { qr_url: newLink(92_485_000), amount_rub: '924850.00' };
        await expect.poll(async () => codeOf(await atBoth(key)[0]!.pay(rest))).toBe('200 succeeded');
        expect((await atBoth(key)[1]!.get('/v1/balance')).json.balance_usdt).toBe('1.621621');
        await topUp(auditContextOf(pool), { partnerId, mode, reference: 'one', microUsdt: 1n });
      }
      const answers = await together(key, 200, (partner, index) => partner.pay({ qr_url: links[index] }));
      expect(countCodes(answers)).toEqual({ '200 succeeded': 1, '402 insufficient_balance': 199 });
      for (const { status, json } of answers)
        if (status === 402)
          expect(json.error).toMatchObject({ required_usdt: '1.621622', balance_usdt: '0.000000' });
      expect((await atBoth(key)[0]!.get('/v1/balance')).json.balance_usdt).toBe('0.000000');
    },
  );

  test.each([
    ['pays at once', []],
    ['takes its time', [{ kind: 'delay', ms: 300 }]],
    ['declines', [{ kind: 'decline' }]],
    ['finishes later', [{ kind: 'finish_later', ms: 500, outcome: 'succeeded' }]],
    ['loses its answer', [{ kind: 'answer_lost', times: 1 }]],
  ])('50 requests with the same key are one payment when the bank %s', async (_case, faults) => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const qr = await makeQr(simulator);
    for (const fault of faults) await qr.fault({ on: 'pay', ...fault });
    const key = randomUUID();
    const answers = await together(liveKey, 50, partner => partner.pay({ qr_url: qr.link }, key));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]!.text]);
    expect(answers[0]!.json.status).not.toBe('processing');
    const { data } = (await atBoth(liveKey)[1]!.get('/v1/payments')).json;
    expect(data).toEqual([answers[0]!.json]);
    expect((await allOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id)).toHaveLength(1);
  });

  test('50 requests with the same key that the bank refuses are refused or, once the key is free again, one payment', async () => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'pay', kind: 'busy', times: 3 });
    const key = randomUUID();
    const answers = await together(liveKey, 50, partner => partner.pay({ qr_url: qr.link }, key));
    for (const answer of answers) expect(codeOf(answer)).toMatch(/^(503 gateway_busy|200 succeeded)$/);
    await simulator.call('DELETE', '/sim/faults');
    const last = await atBoth(liveKey)[0]!.pay({ qr_url: qr.link }, key);
    expect(codeOf(last)).toBe('200 succeeded');
    for (const { status, json } of answers) if (status === 200) expect(json).toEqual(last.json);
  });

  test('50 requests with the same key and different bodies are one payment and conflicts', async () => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const link = await linkOf();
    const key = randomUUID();
    const answers = await together(liveKey, 50, (partner, index) =>
      partner.pay({ qr_url: link, external_id: `order ${index % 5}` }, key),
    );
    expect(countCodes(answers)).toEqual({ '200 succeeded': 10, '409 idempotency_conflict': 40 });
    const paid = answers.filter(({ status }) => status === 200);
    for (const { text } of paid) expect(text).toBe(paid[0]!.text);
  });

  test('the same code from two partners at once is paid once', async () => {
    const customers = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
    for (let round = 0; round < 10; round++) {
      const qr = await makeQr(simulator);
      await qr.fault({ on: 'pay', kind: 'delay', ms: 100 });
      const answers = await Promise.all(
        [0, 1, 2, 3].map(index =>
          atBoth(customers[index % 2]!.liveKey)[((index + round) >> 1) & 1]!.pay({ qr_url: qr.link }),
        ),
      );
      // A request that arrives after the end of the payment gets its outcome instead.
      const {
        '409 duplicate_qr_in_flight': early = 0,
        '200 qr_already_paid': late = 0,
        ...won
      } = countCodes(answers);
      expect([won, early + late]).toEqual([{ '200 succeeded': 1 }, 3]);
      const orders = (await allOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id);
      const states = orders.map(({ state }) => state).toSorted();
      expect(states).toEqual([...Array(late).fill('declined'), 'succeeded']);
    }
  });

  test('many partners pay many codes at once, each code once, without a deadlock', async () => {
    const customers = await Promise.all(Array.from({ length: 6 }, () => createPartnerWithKeys(pool)));
    const links = await Promise.all(Array.from({ length: 12 }, () => linkOf()));
    const answers = await Promise.all(
      customers.flatMap(({ liveKey }, turn) =>
        links.map((_, index) =>
          atBoth(liveKey)[(turn + index) % 2]!.pay({ qr_url: links[turn % 2 ? index : 11 - index] }),
        ),
      ),
    );
    const counts = countCodes(answers);
    expect(counts['200 succeeded']).toBe(12);
    for (const code of Object.keys(counts))
      expect(code).toMatch(/^(200 (succeeded|qr_already_paid)|409 duplicate_qr_in_flight)$/);
  });

  test('the limit of concurrent payments holds across them', async () => {
    const { partnerId, liveKey } = await createPartnerWithKeys(pool);
    await setLimits(auditContextOf(pool), partnerId, { concurrent: 2 });
    const qrs = await Promise.all(Array.from({ length: 10 }, () => makeQr(simulator)));
    for (const qr of qrs) await qr.fault({ on: 'pay', kind: 'delay', ms: 4_000 });
    const answers = await together(liveKey, 10, (partner, index) =>
      partner.pay({ qr_url: qrs[index]!.link }),
    );
    expect(countCodes(answers)).toEqual({ '200 succeeded': 2, '503 gateway_busy': 8 });
  });

  test('the daily turnover limit holds across them', async () => {
    const { partnerId, liveKey } = await createPartnerWithKeys(pool);
    await setLimits(auditContextOf(pool), partnerId, { dailyKopecks: 45_000n });
    const links = await Promise.all(Array.from({ length: 20 }, () => linkOf()));
    const answers = await together(liveKey, 20, (partner, index) => partner.pay({ qr_url: links[index] }));
    expect(countCodes(answers)).toEqual({ '200 succeeded': 3, '403 daily_limit_exceeded': 17 });
  });
});

describe('token buckets hold across two processes:', () => {
  test('creation: 10 at once, then 3 a second', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const key = await issueKey(pool, partnerId, 'test');
    const startMs = performance.now();
    const answers = await together(key, 40, partner => partner.pay({ qr_url: newLink(15_000) }));
    const elapsedSec = (performance.now() - startMs) / 1_000;
    const limited = answers.filter(({ status }) => status === 429);
    const passed = 40 - limited.length;
    expect(passed).toBeGreaterThanOrEqual(10);
    expect(passed).toBeLessThanOrEqual(10 + Math.ceil(3 * elapsedSec));
    for (const { headers, json } of limited)
      expect([headers.get('retry-after'), json.error.code]).toEqual(['1', 'rate_limited']);
  });

  test('everything else: 20 at once, then 20 a second, and payments are counted separately', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const key = await issueKey(pool, partnerId, 'test');
    const startMs = performance.now();
    const answers = await together(key, 80, partner => partner.get('/v1/ping'));
    const elapsedSec = (performance.now() - startMs) / 1_000;
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(20 + Math.ceil(20 * elapsedSec));
    expect((await atBoth(key)[0]!.pay({ qr_url: newLink(15_000) })).status).not.toBe(429);
    const live = await issueKey(pool, partnerId, 'live');
    expect((await atBoth(live)[1]!.get('/v1/ping')).status).toBe(200);
  });

  test('a burst of 20 at one process passes whole', async () => {
    const partnerId = await createFundedPartner(pool, 0n);
    const key = await issueKey(pool, partnerId, 'test');
    const [partner] = atBoth(key);
    const answers = await Promise.all(Array.from({ length: 20 }, () => partner!.get('/v1/ping')));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});

describe('what an operator does reaches both processes:', () => {
  const pings = async (key: string) =>
    (await Promise.all(atBoth(key).map(partner => partner.get('/v1/ping')))).map(codeOf);
  const patience = { timeout: 4_000, interval: 20 };

  test('suspension and its end', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    expect(await pings(testKey)).toEqual(['200 ok', '200 ok']);
    await setSuspended(auditContextOf(pool), partnerId, true);
    await expect.poll(() => pings(testKey), patience).toEqual(Array(2).fill('403 partner_suspended'));
    await setSuspended(auditContextOf(pool), partnerId, false);
    await expect.poll(() => pings(testKey), patience).toEqual(Array(2).fill('200 ok'));
  });

  test('the revocation of a key, and of that key only', async () => {
    const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);
    expect(await pings(testKey)).toEqual(['200 ok', '200 ok']);
    const keys = await listKeys(pool, partnerId);
    await revokeKey(auditContextOf(pool), keys.find(({ mode }) => mode === 'test')!.keyId);
    await expect.poll(() => pings(testKey), patience).toEqual(Array(2).fill('401 unauthorized'));
    expect(await pings(liveKey)).toEqual(['200 ok', '200 ok']);
  });

  test('new limits', async () => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const pay = async () =>
      (await together(testKey, 2, partner => partner.pay({ qr_url: newLink(15_000) }))).map(codeOf);
    expect(await pay()).toEqual(['200 succeeded', '200 succeeded']);
    await setLimits(auditContextOf(pool), partnerId, { maxKopecks: 14_999n });
    await expect.poll(pay, patience).toEqual(Array(2).fill('400 amount_limit_exceeded'));
  });
});

test('payments of a process that is killed while it pays are finished by the other', async () => {
  const third = await startService(env);
  const { liveKey } = await createPartnerWithKeys(pool);
  const qr = await makeQr(simulator);
  await qr.fault({ on: 'pay', kind: 'delay', ms: 1_000 });
  const key = randomUUID();
  const broken = expect(partnerAt(third.address, liveKey).pay({ qr_url: qr.link }, key)).rejects.toThrow();
  await expect
    .poll(async () => (await pool.query('SELECT FROM payments WHERE qrc_id = $1', [qr.qrc_id])).rowCount)
    .toBe(1);
  await third.stop('SIGKILL');
  await broken;
  // Which process polls first depends on timing only.
  await pool.query('UPDATE open_payments SET next_at = now() WHERE qrc_id = $1', [qr.qrc_id]);
  const joined = await atBoth(liveKey)[0]!.pay({ qr_url: qr.link }, key);
  const { state } = (await allOrders()).find(({ qrc_id }) => qrc_id === qr.qrc_id) ?? { state: undefined };
  expect(codeOf(joined)).toBe(state === 'succeeded' ? '200 succeeded' : '200 not_executed');
});
