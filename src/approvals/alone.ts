import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { findRelated } from '../operators/index.ts';
import type { Payment } from '../payments/index.ts';
import type { Operator } from './requests.ts';
import type { Thresholds } from './thresholds.ts';

const dayMs = 86_400_000;

/** What is added up, as the audit log has it. An order of the gateway is always live and has no mode. */
const decisions = {
  actions: ['payment.resolve', 'recovery.release'],
  amount: `(after ->> 'amount_kopecks')::bigint`,
};
/** A rejection keeps money from a partner: it counts like a release. */
const credits = {
  actions: ['balance.credit', 'deposit.release', 'deposit.reject'],
  amount: `(after ->> 'usdt')::numeric * 1000000`,
};

/**
 * What this operator, and operators who may be the same person, did within a day without approval, for all partners
 * together: many small amounts count as one large one.
 */
async function sumAlone(
  db: Queryable,
  clock: Clock,
  { name }: Operator,
  { actions, amount }: typeof decisions,
): Promise<bigint> {
  const { rows } = await db.query<{ operator: string; sum: bigint }>({
    text: `SELECT substr(actor, length('operator:') + 1) AS operator, coalesce(sum(${amount}), 0)::bigint AS sum
             FROM audit
            WHERE action = ANY ($1) AND at > $2 AND actor LIKE 'operator:%'
              AND after ->> 'mode' IS DISTINCT FROM 'test' AND NOT after ? 'asked_by'
            GROUP BY actor`,
    values: [actions, new Date(clock.nowMs() - dayMs)],
  });
  const operators = rows.map(({ operator }) => operator);
  const related = await findRelated(db, name, operators);
  return rows.reduce((sum, row) => (related.has(row.operator) ? sum + row.sum : sum), 0n);
}

/** Whether the operator's decision on a payment, or on an order without one, needs four-eyes approval. Test money never does. */
export const needsApproval = async (
  db: Queryable,
  clock: Clock,
  operator: Operator,
  { mode, amountKopecks }: Pick<Payment, 'mode' | 'amountKopecks'>,
  { decisionKopecks }: Thresholds,
) => mode === 'live' && (await sumAlone(db, clock, operator, decisions)) + amountKopecks > decisionKopecks;

/** The same for a credit. */
export const creditNeedsApproval = async (
  db: Queryable,
  clock: Clock,
  operator: Operator,
  { mode, microUsdt }: Pick<Payment, 'mode' | 'microUsdt'>,
  { creditMicroUsdt }: Thresholds,
) => mode === 'live' && (await sumAlone(db, clock, operator, credits)) + microUsdt > creditMicroUsdt;
