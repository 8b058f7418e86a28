import type { Id } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { transaction } from '../db/postgres/index.ts';
import {
  type DepositDecision,
  type DepositRefusal,
  decideDepositIn,
  lockDeposit,
} from '../deposits/index.ts';
import { findCredited, type Mode, topUpIn } from '../ledger/index.ts';
import { decidePaymentIn, findPaymentAnywhere, findStrayAmount, releaseStrayIn } from '../payments/index.ts';
import { closeRequest, createRequest, lockWaitingRequest, type Operator, type Waiting } from './requests.ts';
import {
  type CurrentThresholds,
  creditNeedsApproval,
  isRaised,
  lockThresholds,
  needsApproval,
  type Thresholds,
  writeThresholds,
} from './thresholds.ts';

type Refused<Outcome extends string> = { outcome: Outcome };
type Done = { outcome: 'done' };

/** An operator decides how a payment ends: at once up to the threshold, above it by four-eyes approval. */
export function submitPaymentDecision(
  audit: AuditContext,
  operator: Operator,
  paymentId: Id<'pay'>,
  asked: {
    outcome: 'succeeded' | 'failed';
    reason: string;
    /** As the operator's page showed it; if it has changed, the decision was about something else. */
    expectedStatusDetail: string | null;
  },
): Promise<Done | Waiting | Refused<'no_payment' | 'already_ended' | 'stale' | 'under_way'>> {
  const { outcome, reason, expectedStatusDetail } = asked;
  return transaction(audit.pool, async tx => {
    const about = { kind: 'resolve', subject: paymentId } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const payment = await findPaymentAnywhere(tx, paymentId);
    if (!payment || payment.status === 'rejected') return { outcome: 'no_payment' };
    if (payment.status !== 'processing') return { outcome: 'already_ended' };
    if (payment.statusDetail !== expectedStatusDetail) return { outcome: 'stale' };
    const thresholds = await lockThresholds(tx);
    if (await needsApproval(tx, audit.clock, operator, payment, thresholds)) {
      const { amountKopecks, microUsdt } = payment;
      const change = { outcome, reason };
      return createRequest(tx, audit, operator, { ...about, change, reason, amountKopecks, microUsdt });
    }
    const decision = await decidePaymentIn(tx, audit, paymentId, { outcome, reason });
    if (decision.outcome !== 'resolved') return { outcome: decision.outcome };
    if (waiting) await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'already_ended' });
    return { outcome: 'done' };
  });
}

/** An operator releases an unmatched order: it counts like a decision on a payment of its amount. */
export const submitRelease = (
  audit: AuditContext,
  operator: Operator,
  order: string,
  reason: string,
): Promise<Done | Waiting | Refused<'no_order'>> =>
  transaction(audit.pool, async tx => {
    const about = { kind: 'release', subject: order } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const thresholds = await lockThresholds(tx);
    const amountKopecks = await findStrayAmount(tx, order);
    if (amountKopecks === undefined) return { outcome: 'no_order' };
    if (await needsApproval(tx, audit.clock, operator, { mode: 'live', amountKopecks }, thresholds))
      return createRequest(tx, audit, operator, { ...about, change: { reason }, reason, amountKopecks });
    if (!(await releaseStrayIn(tx, audit, order, { reason }))) return { outcome: 'no_order' };
    if (waiting) await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'no_order' });
    return { outcome: 'done' };
  });

/** Credits a balance once per reference: at once up to the threshold, above it by four-eyes approval. */
export function submitCredit(
  audit: AuditContext,
  operator: Operator,
  item: { partnerId: Id<'prt'>; mode: Mode; microUsdt: bigint; reference: string },
): Promise<Done | Waiting | Refused<'no_partner' | 'reference_conflict' | 'already_credited'>> {
  const { partnerId, mode, microUsdt, reference } = item;
  return transaction(audit.pool, async tx => {
    const about = { kind: 'credit', subject: partnerId, reference } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const thresholds = await lockThresholds(tx);
    if (await creditNeedsApproval(tx, audit.clock, operator, item, thresholds)) {
      const credited = await findCredited(tx, item);
      if (credited === undefined) return { outcome: 'no_partner' };
      if (credited !== null)
        return { outcome: credited === microUsdt ? 'already_credited' : 'reference_conflict' };
      const change = { mode, usdt: formatMicroUsdt(microUsdt), reference };
      const submitted = await createRequest(tx, audit, operator, {
        ...about,
        change,
        reason: reference,
        microUsdt,
      });
      const isConflict = submitted.outcome === 'already_waiting' && submitted.request.microUsdt !== microUsdt;
      return isConflict ? { outcome: 'reference_conflict' } : submitted;
    }
    const verdict = await topUpIn(tx, audit, item);
    if (verdict.outcome === 'no_account') return { outcome: 'no_partner' };
    if (verdict.outcome === 'conflict') return { outcome: 'reference_conflict' };
    if (waiting && mode === 'live')
      await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'reference_conflict' });
    // A repeat is reported as such, because it credited nothing.
    return { outcome: verdict.outcome === 'credited' ? 'done' : 'already_credited' };
  });
}

/** An operator decides on a held deposit: it counts like a credit of its amount, also if it is rejected. */
export const submitDepositDecision = (
  audit: AuditContext,
  operator: Operator,
  depositId: Id<'dep'>,
  { outcome, reason }: Pick<DepositDecision, 'outcome' | 'reason'>,
): Promise<Done | Waiting | Refused<DepositRefusal>> =>
  transaction(audit.pool, async tx => {
    const about = { kind: 'deposit', subject: depositId } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const thresholds = await lockThresholds(tx);
    const deposit = await lockDeposit(tx, depositId, outcome);
    if (typeof deposit === 'string') return { outcome: deposit };
    const { microUsdt, sender, reference } = deposit;
    if (await creditNeedsApproval(tx, audit.clock, operator, { mode: 'live', microUsdt }, thresholds)) {
      const change = { outcome, sender, reference, reason };
      return createRequest(tx, audit, operator, { ...about, change, reason, microUsdt });
    }
    const result = await decideDepositIn(tx, audit, depositId, { outcome, reason });
    if (result !== 'done') return { outcome: result };
    if (waiting) await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'not_held' });
    return { outcome: 'done' };
  });

/** Lowering a threshold takes effect at once; raising one always needs four-eyes approval. */
export const submitThresholds = (
  audit: AuditContext,
  operator: Operator,
  { expectedVersion, ...wanted }: Thresholds & { expectedVersion: number },
): Promise<Done | Waiting | Refused<'stale'>> =>
  transaction(audit.pool, async tx => {
    const about = { kind: 'thresholds', subject: 'service' } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const now = await lockThresholds(tx);
    if (now.version !== expectedVersion) return { outcome: 'stale' };
    if (isRaised(now, wanted)) {
      const { decisionKopecks: amountKopecks, creditMicroUsdt: microUsdt } = wanted;
      const change = { ...thresholdsObject(wanted), expected_version: `${expectedVersion}` };
      const reason = 'A threshold is raised.';
      return createRequest(tx, audit, operator, { ...about, change, reason, amountKopecks, microUsdt });
    }
    await writeThresholds(tx, wanted);
    await recordChange(tx, audit, thresholdsChange(now, wanted));
    if (waiting) await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'stale' });
    return { outcome: 'done' };
  });

const thresholdsObject = ({ decisionKopecks, creditMicroUsdt }: Thresholds) => ({
  resolve_rub: formatKopecks(decisionKopecks),
  credit_usdt: formatMicroUsdt(creditMicroUsdt),
});

export const thresholdsChange = (now: CurrentThresholds, wanted: Thresholds, requestedBy?: string) => ({
  action: 'thresholds.set',
  subject: 'service',
  before: thresholdsObject(now),
  after: { ...thresholdsObject(wanted), ...(requestedBy === undefined ? {} : { asked_by: requestedBy }) },
});
