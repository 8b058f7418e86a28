import { approveRequest, listRequests } from '../../src/approvals/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { findPaymentAnywhere } from '../../src/payments/index.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { setRate } from '../helpers/partners.ts';
import { insertOperator } from '../helpers/review.ts';

export type Operator = Awaited<ReturnType<typeof insertOperator>>;

/** A funded partner, three finance operators and queries for the tests of approvals. */
export async function createApprovalsWorld() {
  const { pool } = await createDatabase();
  const at = (operator: Operator) => ({ pool, clock: systemClock, actor: `operator:${operator.name}` });
  await setRate(pool);
  const partnerId = await createFundedPartner(pool, 10_000_000_000n);
  await pool.query('UPDATE partners SET concurrent = 1000');
  const requester = await insertOperator(pool, 'finance');
  const second = await insertOperator(pool, 'finance');
  const third = await insertOperator(pool, 'finance');

  return {
    pool,
    at,
    partnerId,
    requester,
    second,
    third,
    statusOf: async (paymentId: Id<'pay'>) => (await findPaymentAnywhere(pool, paymentId))!.status,
    stateOf: async (requestId: Id<'apr'>) =>
      (await listRequests(pool)).find(request => request.requestId === requestId)!.state,
    auditOf: async (subject: string) =>
      (
        await pool.query('SELECT actor, action, before, after FROM audit WHERE subject = $1 ORDER BY id', [
          subject,
        ])
      ).rows,
    approve: (operator: Operator, requestId: Id<'apr'>) => approveRequest(at(operator), operator, requestId),
  };
}
