import { afterAll, expect } from 'vitest';
import {
  approveRequest,
  listRequests,
  submitCredit,
  submitPaymentDecision,
} from '../../src/approvals/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { findPaymentAnywhere } from '../../src/payments/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createDatabase, createFundedPartner, setRate } from '../helpers/database.ts';
import { insertOperator } from '../helpers/review.ts';

export type Operator = Awaited<ReturnType<typeof insertOperator>>;

type Decision = Parameters<typeof submitPaymentDecision>[3];
type Credit = Parameters<typeof submitCredit>[2];
type Wanted = Pick<Credit, 'microUsdt' | 'reference'>;

const decision: Decision = {
  outcome: 'succeeded',
  reason: 'the bank says so',
  expectedStatusDetail: 'manual_review',
};

/** The id of the request that waits for a second operator. */
export function idOf(asked: { outcome: string; request?: { requestId: Id<'apr'> } }): Id<'apr'> {
  if (!asked.request) throw new Error(asked.outcome);
  return asked.request.requestId;
}

/** A funded partner, three finance operators and queries for the tests of approvals; in the end the ledger is consistent. */
export async function createApprovalsWorld() {
  const { pool, sql } = await createDatabase();
  const at = (operator: Operator) => ({ pool, clock: systemClock, actor: `operator:${operator.name}` });
  await setRate(pool);
  const partnerId = await createFundedPartner(pool, 10_000_000_000n);
  await pool.query('UPDATE partners SET concurrent = 1000');
  const requester = await insertOperator(pool, 'finance');
  const second = await insertOperator(pool, 'finance');
  const third = await insertOperator(pool, 'finance');
  afterAll(async () => {
    expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
  });

  return {
    ...{ pool, sql, at, partnerId, requester, second, third },
    statusOf: async (paymentId: Id<'pay'>) => (await findPaymentAnywhere(pool, paymentId))!.status,
    stateOf: async (requestId: Id<'apr'>) =>
      (await listRequests(pool)).find(request => request.requestId === requestId)!.state,
    auditOf: (subject: string) =>
      sql`SELECT actor, action, before, after FROM audit WHERE subject = ${subject} ORDER BY id`,
    approve: (operator: Operator, requestId: Id<'apr'>) => approveRequest(at(operator), operator, requestId),
    /** Decides on a payment in review: it succeeded, unless something else is said. */
    decide: (operator: Operator, paymentId: Id<'pay'>, said: Partial<Decision> = {}, clock = systemClock) =>
      submitPaymentDecision({ ...at(operator), clock }, operator, paymentId, { ...decision, ...said }),
    /** Credits the live balance of the partner, unless another one is named. */
    credit: (operator: Operator, item: Partial<Credit> & Wanted, clock = systemClock) =>
      submitCredit({ ...at(operator), clock }, operator, { partnerId, mode: 'live', ...item }),
  };
}
