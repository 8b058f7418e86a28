import { afterAll, describe, expect, test } from 'vitest';
import { transaction } from '../../src/db/postgres/pool.ts';
import { creditTestDeposit } from '../../src/deposits/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { codeOf, expectMalformed, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock } = await createTimedDatabase('2031-05-05T10:00:00.000Z');
const api = await startApi({ pool, clock });
afterAll(async () => {
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});

async function newPartner() {
  const partner = await api.newPartner();
  const { partnerId, live } = partner;
  const micros = async (of: Pick<typeof partner, 'get'>) =>
    BigInt((await of.get('/v1/balance')).json.balance_usdt.replace('.', ''));
  const start = { test: await micros(partner), live: await micros(live) };
  return {
    ...{ partnerId, partner, live },
    deposit: (amount_usdt: unknown, reference: unknown) =>
      partner.post('/v1/test/deposits', { body: { amount_usdt, reference } }),
    /** What was added since the start, in micro-USDT. */
    added: async () => ({
      test: (await micros(partner)) - start.test,
      live: (await micros(live)) - start.live,
    }),
  };
}

test('a deposit credits the test balance, and only that', async () => {
  const { partner, deposit, added } = await newPartner();
  const { status, json } = await deposit('250.5', 'top-up-1');
  const { balance_usdt } = (await partner.get('/v1/balance')).json;
  expect([status, json]).toEqual([
    200,
    {
      ...{ object: 'test_deposit', reference: 'top-up-1', amount_usdt: '250.500000', balance_usdt },
      request_id: expect.stringMatching(/^req_/),
    },
  ]);
  expect(await added()).toEqual({ test: 250_500_000n, live: 0n });
  const { entries } = (await partner.get('/v1/statement?day=2031-05-05')).json;
  const credited = { kind: 'credit', amount_usdt: '250.500000', reference: 'deposit:test:top-up-1' };
  expect(entries.at(-1)).toMatchObject(credited);
});

test('a reference is credited once, however often and at once it is sent', async () => {
  const { deposit, added } = await newPartner();
  const answers = await Promise.all([1, 2, 3].map(() => deposit('10', 'same')));
  answers.push(await deposit('10.000000', 'same'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await added()).test).toBe(10_000_000n);
  const other = await deposit('11', 'same');
  expect(codeOf(other)).toBe('409 idempotency_conflict');
  expect((await added()).test).toBe(10_000_000n);
  const another = await newPartner();
  expect((await another.deposit('11', 'same')).status).toBe(200);
});

test('is not for live keys', async () => {
  const { live, added } = await newPartner();
  const body = { amount_usdt: '10', reference: 'live' };
  expect(codeOf(await live.post('/v1/test/deposits', { body }))).toBe('403 test_key_required');
  expect(await added()).toEqual({ test: 0n, live: 0n });
});

describe('what is refused', () => {
  const amounts = ['0', '-1', '0.0000001', '1000000.000001', 'ten'];
  test.each(amounts)('the amount %j', async amount => {
    const { deposit, added } = await newPartner();
    expect(codeOf(await deposit(amount, 'r'))).toBe('400 invalid_request');
    expect((await added()).test).toBe(0n);
  });

  test.each([
    [10, 'r', 'amount_usdt'],
    ['10', '', 'reference'],
    ['10', 'a\n', 'reference'],
    ['10', 'r'.repeat(65), 'reference'],
    ['10', undefined, 'reference'],
  ])('%j with the reference %j', async (amount, reference, field) => {
    const { deposit } = await newPartner();
    expectMalformed(await deposit(amount, reference), 'body', field);
  });
});

test('at most a hundred a day; a repeat is still answered', async () => {
  const { partnerId, deposit, added } = await newPartner();
  await transaction(pool, async tx => {
    for (let nth = 0; nth < 100; nth++)
      await creditTestDeposit(tx, clock, { partnerId, microUsdt: 1_000_000n, reference: `d-${nth}` });
  });
  expect(codeOf(await deposit('1', 'd-100'))).toBe('403 daily_limit_exceeded');
  expect((await deposit('1', 'd-7')).status).toBe(200);
  expect((await added()).test).toBe(100_000_000n);
  clock.advance(24 * 3_600_000);
  expect((await deposit('1', 'd-100')).status).toBe(200);
});
