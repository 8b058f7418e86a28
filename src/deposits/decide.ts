import { clearAlarmsOf } from '../alarms/index.ts';
import { instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findRow, type Queryable, transaction, withIds } from '../db/postgres/index.ts';
import { maxMicroUsdt } from './amount.ts';
import { creditDeposits } from './credit.ts';
import type { DepositState } from './deposits.ts';

export interface DepositDecision {
  outcome: 'credited' | 'rejected';
  reason: string;
  /** With four-eyes approval: the operator who asked for it. */
  requestedBy?: string;
}

/** Why a deposit cannot be decided on so. Nothing was done. */
export type DepositRefusal = 'no_deposit' | 'not_held' | 'too_large' | 'reference_used';

interface HeldDeposit {
  partnerId: Id<'prt'>;
  microUsdt: bigint;
  sender: string;
  reference: string;
}

/** Reads the deposit of any partner, and locks it until the transaction ends. */
export async function lockDeposit(
  tx: Queryable,
  depositId: Id<'dep'>,
  outcome: DepositDecision['outcome'],
): Promise<HeldDeposit | DepositRefusal> {
  const found = await findRow<{ state: DepositState }>(tx, {
    text: `SELECT partner_id AS "partnerId", state, micro_usdt AS "microUsdt", sender, reference
             FROM deposits WHERE id = $1 FOR UPDATE`,
    values: [uuidFromId(depositId)],
  });
  if (!found) return 'no_deposit';
  const { state, ...row } = found;
  const deposit = withIds<HeldDeposit>({ partnerId: 'prt' })(row);
  if (state !== 'held') return 'not_held';
  if (outcome === 'credited' && deposit.microUsdt > maxMicroUsdt) return 'too_large';
  return deposit;
}

/** Ends a held deposit: the credit or the rejection, the audit record and the end of the alarm, in one transaction. */
export const decideDeposit = (audit: AuditContext, depositId: Id<'dep'>, decision: DepositDecision) =>
  transaction(audit.pool, tx => decideDepositIn(tx, audit, depositId, decision));

/** The same, as part of the caller's transaction. */
export async function decideDepositIn(
  tx: Queryable,
  audit: AuditContext,
  depositId: Id<'dep'>,
  { outcome, reason, requestedBy }: DepositDecision,
): Promise<'done' | DepositRefusal> {
  const deposit = await lockDeposit(tx, depositId, outcome);
  if (typeof deposit === 'string') return deposit;
  const { partnerId, microUsdt, reference } = deposit;
  const id = uuidFromId(depositId);
  const usdt = formatMicroUsdt(microUsdt);
  const isCredited = outcome === 'credited';
  if (isCredited) {
    const refused = await creditDeposits(tx, audit.clock, partnerId, [{ reference, microUsdt }]);
    if (refused.length > 0) return 'reference_used';
  }
  await tx.query({
    text: `UPDATE deposits SET state = $3, decided_at = $4::timestamptz, decision_reason = $5,
                  credited_at = CASE WHEN $6 THEN $4::timestamptz END, credit_reference = CASE WHEN $6 THEN reference END
            WHERE partner_id = $1 AND id = $2`,
    values: [uuidFromId(partnerId), id, outcome, instantOf(audit.clock), reason, isCredited],
  });
  await recordChange(tx, audit, {
    action: isCredited ? 'deposit.release' : 'deposit.reject',
    subject: depositId,
    before: { state: 'held' },
    after: { state: outcome, partner_id: partnerId, usdt, reference, reason, asked_by: requestedBy },
  });
  await clearAlarmsOf(tx, audit, depositId);
  return 'done';
}
