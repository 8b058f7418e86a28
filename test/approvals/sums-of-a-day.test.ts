import { describe, expect, test } from 'vitest';
import { submitCredit, submitPaymentDecision } from '../../src/approvals/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createOperator } from '../../src/operators/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createFundedPartner } from '../helpers/database.ts';
import { secretKey } from '../helpers/partners.ts';
import { insertOperator, openInReview } from '../helpers/review.ts';
import { createApprovalsWorld, type Operator } from './approvals-world.ts';

const { pool, at, partnerId, second, approve, statusOf } = await createApprovalsWorld();

const tomorrow = { ...systemClock, nowMs: () => systemClock.nowMs() + 86_400_000 };
let count = 0;

async function createdBy(one: Operator): Promise<Operator> {
  const name = `account-${++count}`;
  const made = await createOperator(at(one), secretKey, { name, role: 'finance' });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return { operatorId: made.operator.operatorId, name };
}

const outcomesOf = async (submitted: Promise<{ outcome: string }>[]) =>
  (await Promise.all(submitted)).map(({ outcome }) => outcome).sort();

describe('credits without approval', () => {
  const credit = (operator: Operator, to: Id<'prt'>, microUsdt: bigint, clock = systemClock) => {
    const item = { partnerId: to, mode: 'live', microUsdt, reference: `credit ${++count}` } as const;
    return submitCredit({ ...at(operator), clock }, operator, item);
  };

  test('credits to several partners by one operator count together', async () => {
    const one = await insertOperator(pool, 'admin');
    const partners = [partnerId];
    while (partners.length < 4) partners.push(await createFundedPartner(pool, 1n));
    const outcomes = await outcomesOf(partners.map(to => credit(one, to, 500_000_000n)));
    expect(outcomes).toEqual(['done', 'done', 'waiting', 'waiting']);
    for (const to of partners) expect(await credit(one, to, 1n)).toMatchObject({ outcome: 'waiting' });
    expect(await credit(await createdBy(one), partnerId, 1n)).toMatchObject({ outcome: 'waiting' });
    expect(await credit(second, partners[1]!, 500_000_000n)).toEqual({ outcome: 'done' });
    expect(await credit(one, partners[1]!, 1n, tomorrow)).toEqual({ outcome: 'done' });
  });
});

describe('decisions without approval', () => {
  const decide = (operator: Operator, paymentId: Id<'pay'>, clock = systemClock) =>
    submitPaymentDecision({ ...at(operator), clock }, operator, paymentId, {
      outcome: 'failed',
      reason: 'the bank says so',
      expectedStatusDetail: 'manual_review',
    });
  const open = (amountKopecks: bigint, mode: 'live' | 'test' = 'live') =>
    openInReview(pool, partnerId, { amountKopecks, mode });

  test('decisions on several payments by one person count together', async () => {
    const one = await insertOperator(pool, 'admin');
    const accounts = [one, one, await createdBy(one), await createdBy(one)];
    const payments = await Promise.all(accounts.map(() => open(500_000n)));
    const outcomes = await outcomesOf(accounts.map((account, index) => decide(account, payments[index]!)));
    expect(outcomes).toEqual(['done', 'done', 'waiting', 'waiting']);
    const statuses = await Promise.all(payments.map(statusOf));
    expect(statuses.sort()).toEqual(['failed', 'failed', 'processing', 'processing']);
    expect(await decide(second, await open(1_000_000n))).toEqual({ outcome: 'done' });
    expect(await decide(one, await open(1n), tomorrow)).toEqual({ outcome: 'done' });
  });

  test('what a second operator approved does not count', async () => {
    const [one, other] = [await insertOperator(pool, 'support'), await insertOperator(pool, 'support')];
    const asked = await decide(one, await open(5_000_000n));
    if (asked.outcome !== 'waiting') throw new Error(asked.outcome);
    expect(await approve(other, asked.request.requestId)).toEqual({ outcome: 'done' });
    for (const operator of [one, other])
      expect(await decide(operator, await open(1_000_000n))).toEqual({ outcome: 'done' });
  });
});

test('the ledger is consistent afterwards', async () => {
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});
