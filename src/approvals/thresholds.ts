import type { Clock } from '../base/clock.ts';
import { type Queryable, readRow, readRows } from '../db/postgres/index.ts';
import { findRelated } from '../operators/index.ts';
import type { Payment } from '../payments/index.ts';
import type { Operator } from './requests.ts';

/** Up to these amounts one operator is enough; above them four-eyes approval is needed. */
export interface Thresholds {
  decisionKopecks: bigint;
  creditMicroUsdt: bigint;
}

export interface CurrentThresholds extends Thresholds {
  /** Increases with every change; a change names the version that it is based on. */
  version: number;
}

const select = `SELECT resolve_alone_kopecks AS "decisionKopecks", credit_alone_micro_usdt AS "creditMicroUsdt",
                       thresholds_version AS version FROM service`;

export const readThresholds = (db: Queryable) => readRow<CurrentThresholds>(db, { text: select });

/**
 * Reads the thresholds and locks them until the transaction ends. Whatever may need approval is submitted under this lock,
 * one after the other, so that the sum of what was done without approval includes the ones before.
 */
export const lockThresholds = (tx: Queryable) =>
  readRow<CurrentThresholds>(tx, { text: `${select} FOR NO KEY UPDATE` });

export const writeThresholds = (tx: Queryable, { decisionKopecks, creditMicroUsdt }: Thresholds) =>
  tx.query({
    text: `UPDATE service SET resolve_alone_kopecks = $1, credit_alone_micro_usdt = $2,
                              thresholds_version = thresholds_version + 1`,
    values: [decisionKopecks, creditMicroUsdt],
  });

/** Raising a threshold lets one operator do more alone, so it needs four-eyes approval itself. */
export const isRaised = (now: Thresholds, wanted: Thresholds) =>
  wanted.decisionKopecks > now.decisionKopecks || wanted.creditMicroUsdt > now.creditMicroUsdt;

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
  const rows = await readRows<{ operator: string; sum: bigint }>(db, {
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
