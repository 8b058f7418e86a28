import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { topUp, verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { afterFile } from '../helpers/after-file.ts';
import { type Answer, createPartnerWithKeys, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, audit } = await createDatabase();
await setRate(pool);
const simulator = await openSimulator();
/** As two processes: each has connections of its own, and they share only the database. */
const otherPool = openPool({ ...pool.options });
afterFile(() => otherPool.end());
const services = await Promise.all(
  [pool, otherPool].map(each => startApi({ pool: each, gatewayUrl: simulator.address })),
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
  const { body } = await simulator.call('GET', '/orders?limit=1000');
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

const linkOf = async () => (await makeQr(simulator)).link as string;

/** Concurrent requests of which no order arrives at the bank before each has sent one or was refused. */
async function heldUntilDecided(count: number, ask: (index: number) => Promise<Answer>) {
  const decided = Promise.withResolvers<void>();
  let counted = 0;
  const countOne = () => ++counted === count && decided.resolve();
  const spies = services.map(({ deps: { gateway } }) => {
    const { pay } = gateway;
    return vi.spyOn(gateway, 'pay').mockImplementation(async order => {
      countOne();
      await decided.promise;
      return pay(order);
    });
  });
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const answer = await ask(index);
      if (answer.status !== 200) countOne();
      return answer;
    }),
  );
  for (const spy of spies) spy.mockRestore();
  return answers;
}

describe('two processes:', () => {
  // 150 rubles at 92.50.
  const priceMicroUsdt = 1_621_622n;

  test.each(['live', 'test'] as const)(
    '60 payments at once with balance for one: one is paid (%s)',
    async mode => {
      const { partnerId, liveKey, testKey } = await createPartnerWithKeys(pool, priceMicroUsdt);
      await setLimits(audit, partnerId, { concurrent: 1_000, maxKopecks: 100_000_000n });
      const key = mode === 'live' ? liveKey : testKey;
      const links = await Promise.all(
        Array.from({ length: 60 }, () => (mode === 'live' ? linkOf() : newLink(15_000))),
      );
      if (mode === 'test') {
        // Every test balance starts with 10 000 USDT: all but the price of one payment is removed first.
        const rest = { qr_url: newLink(92_485_000), amount_rub: '924850.00' };
        expect(codeOf(await atBoth(key)[0]!.pay(rest))).toBe('200 succeeded');
        expect((await atBoth(key)[1]!.get('/v1/balance')).json.balance_usdt).toBe('1.621621');
        await topUp(audit, { partnerId, mode, reference: 'one', microUsdt: 1n });
      }
      const answers = await together(key, 60, (partner, index) => partner.pay({ qr_url: links[index] }));
      expect(countCodes(answers)).toEqual({ '200 succeeded': 1, '402 insufficient_balance': 59 });
      for (const { status, json } of answers)
        if (status === 402)
          expect(json.error).toMatchObject({ required_usdt: '1.621622', balance_usdt: '0.000000' });
      expect((await atBoth(key)[0]!.get('/v1/balance')).json.balance_usdt).toBe('0.000000');
    },
  );

  test.each([
    ['takes its time', { kind: 'delay', ms: 100 }],
    ['declines', { kind: 'decline' }],
  ])('30 requests with the same key are one payment when the bank %s', async (_case, fault) => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'pay', ...fault });
    const key = randomUUID();
    const answers = await together(liveKey, 30, partner => partner.pay({ qr_url: qr.link }, key));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]!.text]);
    expect(answers[0]!.json.status).not.toBe('processing');
    const { data } = (await atBoth(liveKey)[1]!.get('/v1/payments')).json;
    expect(data).toEqual([answers[0]!.json]);
    expect((await allOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id)).toHaveLength(1);
  });

  test('30 requests with the same key that the bank refuses are refused or, once the key is free again, one payment', async () => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'pay', kind: 'busy', times: 3 });
    const key = randomUUID();
    const answers = await together(liveKey, 30, partner => partner.pay({ qr_url: qr.link }, key));
    for (const answer of answers) expect(codeOf(answer)).toMatch(/^(503 gateway_busy|200 succeeded)$/);
    await simulator.call('DELETE', '/sim/faults');
    const last = await atBoth(liveKey)[0]!.pay({ qr_url: qr.link }, key);
    expect(codeOf(last)).toBe('200 succeeded');
    for (const { status, json } of answers) if (status === 200) expect(json).toEqual(last.json);
  });

  test('30 requests with the same key and different bodies are one payment and conflicts', async () => {
    const { liveKey } = await createPartnerWithKeys(pool);
    const link = await linkOf();
    const key = randomUUID();
    const answers = await together(liveKey, 30, (partner, index) =>
      partner.pay({ qr_url: link, external_id: `order ${index % 5}` }, key),
    );
    expect(countCodes(answers)).toEqual({ '200 succeeded': 6, '409 idempotency_conflict': 24 });
    const paid = answers.filter(({ status }) => status === 200);
    for (const { text } of paid) expect(text).toBe(paid[0]!.text);
  });

  test('the same code from two partners at once is paid once', async () => {
    const customers = [await createPartnerWithKeys(pool), await createPartnerWithKeys(pool)];
    for (let round = 0; round < 5; round++) {
      const qr = await makeQr(simulator);
      const answers = await heldUntilDecided(4, index =>
        atBoth(customers[index % 2]!.liveKey)[((index + round) >> 1) & 1]!.pay({ qr_url: qr.link }),
      );
      expect(countCodes(answers)).toEqual({ '200 succeeded': 1, '409 duplicate_qr_in_flight': 3 });
      const orders = (await allOrders()).filter(({ qrc_id }) => qrc_id === qr.qrc_id);
      expect(orders.map(({ state }) => state)).toEqual(['succeeded']);
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
    await setLimits(audit, partnerId, { concurrent: 2 });
    const links = await Promise.all(Array.from({ length: 10 }, linkOf));
    const partners = atBoth(liveKey);
    const answers = await heldUntilDecided(links.length, index =>
      partners[index % 2]!.pay({ qr_url: links[index] }),
    );
    expect(countCodes(answers)).toEqual({ '200 succeeded': 2, '503 gateway_busy': 8 });
  });

  test('the daily turnover limit holds across them', async () => {
    const { partnerId, liveKey } = await createPartnerWithKeys(pool);
    await setLimits(audit, partnerId, { dailyKopecks: 45_000n });
    const links = await Promise.all(Array.from({ length: 20 }, linkOf));
    const answers = await together(liveKey, 20, (partner, index) => partner.pay({ qr_url: links[index] }));
    expect(countCodes(answers)).toEqual({ '200 succeeded': 3, '403 daily_limit_exceeded': 17 });
  });
});
