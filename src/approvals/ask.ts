import { type Id, uuidFromId } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { findCredited, type Mode, topUpIn } from '../ledger/index.ts';
import { decidePaymentIn, findPaymentAnywhere, type Payment } from '../payments/index.ts';
import { decide, leaveRequest, lockWaiting, type Operator, type Waiting } from './requests.ts';
import {
  type CurrentThresholds,
  isRaised,
  lockThresholds,
  readThresholds,
  type Thresholds,
  writeThresholds,
} from './thresholds.ts';

/** Test money is no money: one person is always enough for it. */
export const needsSecondPerson = (
  { mode, amountKopecks }: Pick<Payment, 'mode' | 'amountKopecks'>,
  { resolveKopecks }: Thresholds,
) => mode === 'live' && amountKopecks > resolveKopecks;

const dayMs = 86_400_000;

type Refused<Outcome extends string> = { outcome: Outcome };
type Done = { outcome: 'done' };

/** Ends a payment by an operator's word: at once up to the threshold, above it when a second person approves. */
export function askResolve(
  audit: AuditContext,
  operator: Operator,
  paymentId: Id<'pay'>,
  asked: {
    outcome: 'succeeded' | 'failed';
    reason: string;
    /** As the page showed it: whoever decided on something else decides again. */
    expectedStatusDetail: string | null;
  },
): Promise<Done | Waiting | Refused<'no_payment' | 'already_ended' | 'stale' | 'under_way'>> {
  const { outcome, reason, expectedStatusDetail } = asked;
  return transaction(audit.pool, async tx => {
    const about = { kind: 'resolve', subject: paymentId } as const;
    const waiting = await lockWaiting(tx, about);
    const payment = await findPaymentAnywhere(tx, paymentId);
    if (!payment || payment.status === 'rejected') return { outcome: 'no_payment' };
    if (payment.status !== 'processing') return { outcome: 'already_ended' };
    if (payment.statusDetail !== expectedStatusDetail) return { outcome: 'stale' };
    if (needsSecondPerson(payment, await readThresholds(tx))) {
      const { amountKopecks, microUsdt } = payment;
      const change = { outcome, reason };
      return leaveRequest(tx, audit, operator, { ...about, change, reason, amountKopecks, microUsdt });
    }
    const resolved = await decidePaymentIn(tx, audit, paymentId, { outcome, reason });
    if (resolved.outcome !== 'resolved') return { outcome: resolved.outcome };
    if (waiting) await decide(tx, audit, operator, waiting, 'void', 'already_ended');
    return { outcome: 'done' };
  });
}

/** Credits a balance: at once up to the threshold, above it when a second person approves. Once per reference. */
export function askCredit(
  audit: AuditContext,
  operator: Operator,
  item: { partnerId: Id<'prt'>; mode: Mode; microUsdt: bigint; reference: string },
): Promise<Done | Waiting | Refused<'no_partner' | 'reference_conflict' | 'already_credited'>> {
  const { partnerId, mode, microUsdt, reference } = item;
  return transaction(audit.pool, async tx => {
    const about = { kind: 'credit', subject: partnerId, reference } as const;
    const waiting = await lockWaiting(tx, about);
    const { creditMicroUsdt } = await readThresholds(tx);
    const alone = mode === 'live' ? await creditedAlone(tx, audit, operator, partnerId) : 0n;
    if (mode === 'live' && alone + microUsdt > creditMicroUsdt) {
      const credited = await findCredited(tx, item);
      if (credited === undefined) return { outcome: 'no_partner' };
      if (credited !== null)
        return { outcome: credited === microUsdt ? 'already_credited' : 'reference_conflict' };
      const change = { mode, usdt: formatMicroUsdt(microUsdt), reference };
      const left = await leaveRequest(tx, audit, operator, {
        ...about,
        change,
        reason: reference,
        microUsdt,
      });
      const isAnother = left.outcome === 'already_waiting' && left.request.microUsdt !== microUsdt;
      return isAnother ? { outcome: 'reference_conflict' } : left;
    }
    const verdict = await topUpIn(tx, audit, item);
    if (verdict.outcome === 'no_account') return { outcome: 'no_partner' };
    if (verdict.outcome === 'conflict') return { outcome: 'reference_conflict' };
    if (waiting && mode === 'live') await decide(tx, audit, operator, waiting, 'void', 'reference_conflict');
    // Whoever typed it again is told that this time nothing was done.
    return { outcome: verdict.outcome === 'credited' ? 'done' : 'already_credited' };
  });
}

/**
 * What this operator has credited to the partner in a day without anybody else: many small credits are a large one. They
 * come one after the other, so that each knows of those before it.
 */
async function creditedAlone(
  tx: Queryable,
  { clock, actor }: AuditContext,
  { operatorId }: Operator,
  partnerId: Id<'prt'>,
): Promise<bigint> {
  await tx.query({
    text: 'SELECT FROM operators WHERE id = $1 FOR NO KEY UPDATE',
    values: [uuidFromId(operatorId)],
  });
  const { rows } = await tx.query<{ sum: bigint }>({
    text: `SELECT coalesce(sum((after ->> 'usdt')::numeric * 1000000), 0)::bigint AS sum FROM audit
            WHERE subject = $1 AND at > $2 AND actor = $3 AND action = 'balance.credit'
              AND after ->> 'mode' = 'live' AND NOT after ? 'asked_by'`,
    values: [partnerId, new Date(clock.nowMs() - dayMs), actor],
  });
  return rows[0]!.sum;
}

/** Lowering a threshold is done at once; raising one always waits for a second person. */
export function askThresholds(
  audit: AuditContext,
  operator: Operator,
  { expectedVersion, ...wanted }: Thresholds & { expectedVersion: number },
): Promise<Done | Waiting | Refused<'stale'>> {
  return transaction(audit.pool, async tx => {
    const about = { kind: 'thresholds', subject: 'service' } as const;
    const waiting = await lockWaiting(tx, about);
    const now = await lockThresholds(tx);
    if (now.version !== expectedVersion) return { outcome: 'stale' };
    if (isRaised(now, wanted)) {
      const { resolveKopecks: amountKopecks, creditMicroUsdt: microUsdt } = wanted;
      const change = { ...thresholdsObject(wanted), expected_version: `${expectedVersion}` };
      const reason = 'a threshold is raised';
      return leaveRequest(tx, audit, operator, { ...about, change, reason, amountKopecks, microUsdt });
    }
    await writeThresholds(tx, wanted);
    await recordChange(tx, audit, thresholdsChange(now, wanted));
    if (waiting) await decide(tx, audit, operator, waiting, 'void', 'stale');
    return { outcome: 'done' };
  });
}

const thresholdsObject = ({ resolveKopecks, creditMicroUsdt }: Thresholds) => ({
  resolve_rub: formatKopecks(resolveKopecks),
  credit_usdt: formatMicroUsdt(creditMicroUsdt),
});

export const thresholdsChange = (now: CurrentThresholds, wanted: Thresholds, askedBy?: string) => ({
  action: 'thresholds.set',
  subject: 'service',
  before: thresholdsObject(now),
  after: { ...thresholdsObject(wanted), ...(askedBy === undefined ? {} : { asked_by: askedBy }) },
});
