import { type Id, uuidFromId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { findCredited, type Mode, topUpIn } from '../ledger/index.ts';
import { findRelated } from '../operators/index.ts';
import { decidePaymentIn, findPaymentAnywhere, type Payment } from '../payments/index.ts';
import { closeRequest, createRequest, lockWaitingRequest, type Operator, type Waiting } from './requests.ts';
import {
  type CurrentThresholds,
  isRaised,
  lockThresholds,
  readThresholds,
  type Thresholds,
  writeThresholds,
} from './thresholds.ts';

/** Four-eyes approval: live payments above the threshold need a second operator. Test money never does. */
export const needsApproval = (
  { mode, amountKopecks }: Pick<Payment, 'mode' | 'amountKopecks'>,
  { decisionKopecks }: Thresholds,
) => mode === 'live' && amountKopecks > decisionKopecks;

const dayMs = 86_400_000;

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
    if (needsApproval(payment, await readThresholds(tx))) {
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
    const { creditMicroUsdt } = await readThresholds(tx);
    const alone = mode === 'live' ? await creditedWithoutApproval(tx, audit, operator, partnerId) : 0n;
    if (mode === 'live' && alone + microUsdt > creditMicroUsdt) {
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

/**
 * What this operator, and operators who may be the same person, credited to the partner within a day without approval:
 * many small credits count as one large one. The lock on the partner makes the credits run one after the other, so that
 * each sees the ones before it.
 */
async function creditedWithoutApproval(
  tx: Queryable,
  { clock }: AuditContext,
  { name }: Operator,
  partnerId: Id<'prt'>,
): Promise<bigint> {
  await tx.query({
    text: 'SELECT FROM partners WHERE id = $1 FOR NO KEY UPDATE',
    values: [uuidFromId(partnerId)],
  });
  const { rows } = await tx.query<{ operator: string; sum: bigint }>({
    text: `SELECT substr(actor, length('operator:') + 1) AS operator,
                  sum((after ->> 'usdt')::numeric * 1000000)::bigint AS sum
             FROM audit
            WHERE subject = $1 AND at > $2 AND actor LIKE 'operator:%' AND action = 'balance.credit'
              AND after ->> 'mode' = 'live' AND NOT after ? 'asked_by'
            GROUP BY actor`,
    values: [partnerId, new Date(clock.nowMs() - dayMs)],
  });
  const related = await findRelated(
    tx,
    name,
    rows.map(({ operator }) => operator),
  );
  return rows.reduce((sum, row) => (related.has(row.operator) ? sum + row.sum : sum), 0n);
}

/** Lowering a threshold takes effect at once; raising one always needs four-eyes approval. */
export function submitThresholds(
  audit: AuditContext,
  operator: Operator,
  { expectedVersion, ...wanted }: Thresholds & { expectedVersion: number },
): Promise<Done | Waiting | Refused<'stale'>> {
  return transaction(audit.pool, async tx => {
    const about = { kind: 'thresholds', subject: 'service' } as const;
    const waiting = await lockWaitingRequest(tx, about);
    const now = await lockThresholds(tx);
    if (now.version !== expectedVersion) return { outcome: 'stale' };
    if (isRaised(now, wanted)) {
      const { decisionKopecks: amountKopecks, creditMicroUsdt: microUsdt } = wanted;
      const change = { ...thresholdsObject(wanted), expected_version: `${expectedVersion}` };
      const reason = 'a threshold is raised';
      return createRequest(tx, audit, operator, { ...about, change, reason, amountKopecks, microUsdt });
    }
    await writeThresholds(tx, wanted);
    await recordChange(tx, audit, thresholdsChange(now, wanted));
    if (waiting) await closeRequest(tx, audit, operator, waiting, { state: 'void', why: 'stale' });
    return { outcome: 'done' };
  });
}

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
