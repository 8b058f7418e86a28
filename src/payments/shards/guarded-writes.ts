import { type Clock, instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import { sharedRead } from '../../db/shared-read.ts';
import type { NewPayment } from '../openings.ts';
import type { FinishResult, OpenResult, PaymentToFinish } from '../results.ts';
import type { CodeGuard } from './code-guard.ts';

type Open = (payment: NewPayment) => Promise<OpenResult>;
/** The payment that has its idempotency key. */
type FindKnown = (payment: NewPayment) => Promise<Pick<NewPayment, 'paymentId'> | undefined>;
type Finish = (payment: PaymentToFinish) => Promise<FinishResult>;

/**
 * Reserves the code of a live payment, opens the payment, and frees the code if it was certainly not opened. After an error that
 * is not certain: the sweeper frees the code once the payment can no longer be opened.
 */
export const guardedOpening =
  (guard: CodeGuard, clock: Clock, findKnown: FindKnown, open: Open): Open =>
  async payment => {
    if (payment.mode !== 'live') return open(payment);
    if (!(await guard.reserve(payment))) return refusalOf(clock, findKnown, payment);
    const result = await open(payment);
    if (result.paymentId !== payment.paymentId) await guard.free(payment).catch(() => {});
    return result;
  };

/** The code is another partner's. What stands before it in the order of refusals comes first. */
async function refusalOf(clock: Clock, findKnown: FindKnown, payment: NewPayment): Promise<OpenResult> {
  const at = instantOf(clock);
  const result = (verdict: OpenResult['verdict'], paymentId?: OpenResult['paymentId']) => ({
    verdict,
    paymentId,
    balanceMicroUsdt: 0n,
    at,
  });
  const known = await findKnown(payment);
  if (known) return result('known', known.paymentId);
  if (payment.unchecked) return result('objection');
  if (payment.rateStaleAt >= at) return result('duplicate_qr_in_flight');
  return result(payment.quoteId === undefined ? 'rate_unavailable' : 'quote_expired');
}

/** Frees the code of a live payment that has ended. */
export const guardedFinish =
  (guard: CodeGuard, db: Queryable, finish: Finish): Finish =>
  async payment => {
    const result = await finish(payment);
    // The payment has ended whatever happens here; the sweeper frees what stays reserved.
    if (payment.mode === 'live' && result.changed) await freeEnded(guard, db, payment).catch(() => {});
    return result;
  };

async function freeEnded(guard: CodeGuard, db: Queryable, payment: PaymentToFinish): Promise<void> {
  const qrcId = await findCode(db, payment);
  if (qrcId !== undefined) await guard.free({ qrcId, paymentId: payment.paymentId });
}

const findCode = sharedRead(async (db, ended: PaymentToFinish[]) => {
  const { rows } = await db.query<{ id: string; qrc_id: string }>({
    name: 'codes of ended payments',
    text: `SELECT p.id, p.qrc_id FROM unnest($1::uuid[], $2::uuid[]) AS k (partner_id, id)
             JOIN payments p ON p.partner_id = k.partner_id AND p.mode = 'live' AND p.id = k.id`,
    values: [
      ended.map(({ partnerId }) => uuidFromId(partnerId)),
      ended.map(({ paymentId }) => uuidFromId(paymentId)),
    ],
  });
  const codes = new Map(rows.map(({ id, qrc_id }) => [id, qrc_id]));
  return ended.map(({ paymentId }) => codes.get(uuidFromId(paymentId)));
});
