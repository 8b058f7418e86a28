import { type Clock, instantOf } from '../../base/clock.ts';
import { idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { LockWait } from '../../db/own-lanes.ts';
import type { Queryable } from '../../db/pool.ts';
import type { NewPayment } from '../openings.ts';
import type { FinishResult, OpenResult, PaymentToFinish } from '../results.ts';
import type { CodeGuard } from './code-guard.ts';

export type OpenAll = (payments: NewPayment[], lockWait: LockWait) => Promise<OpenResult[]>;
/** The payment that has its idempotency key. */
type FindKnown = (payment: NewPayment) => Promise<Pick<NewPayment, 'paymentId'> | undefined>;
type FinishAll = (payments: PaymentToFinish[], lockWait: LockWait) => Promise<FinishResult[]>;

/**
 * Reserves the codes of live payments, opens those that have theirs, and frees what was certainly not opened. After an error that
 * is not certain: the sweeper frees the code once the payment can no longer be opened.
 */
export function guardedOpening(guard: CodeGuard, clock: Clock, findKnown: FindKnown, open: OpenAll): OpenAll {
  return async (payments, lockWait) => {
    const live = payments.filter(({ mode }) => mode === 'live');
    const reserved = await guard.reserve(live);
    const refused = new Set(live.filter((_, index) => !reserved[index]));
    const toOpen = payments.filter(payment => !refused.has(payment));
    const opened = toOpen.length > 0 ? await open(toOpen, lockWait) : [];
    const results = new Map(toOpen.map((payment, index) => [payment, opened[index]!]));
    const unopened = toOpen.filter(
      ({ mode, paymentId }, index) => mode === 'live' && opened[index]!.paymentId !== paymentId,
    );
    await guard.free(unopened).catch(() => {});
    return Promise.all(payments.map(payment => results.get(payment) ?? refusalOf(clock, findKnown, payment)));
  };
}

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
  return result(payment.rateStaleAt < at ? 'rate_unavailable' : 'duplicate_qr_in_flight');
}

/** Frees the codes of live payments that have ended. */
export function guardedFinish(guard: CodeGuard, db: Queryable, finish: FinishAll): FinishAll {
  return async (payments, lockWait) => {
    const results = await finish(payments, lockWait);
    const ended = payments.filter(({ mode }, index) => mode === 'live' && results[index]!.changed);
    // The payments have ended whatever happens here; the sweeper frees what stays reserved.
    if (ended.length > 0) await freeEnded(guard, db, ended).catch(() => {});
    return results;
  };
}

async function freeEnded(guard: CodeGuard, db: Queryable, ended: PaymentToFinish[]): Promise<void> {
  const { rows } = await db.query<{ id: string; qrc_id: string }>({
    name: 'codes of ended payments',
    text: `SELECT p.id, p.qrc_id FROM unnest($1::uuid[], $2::uuid[]) AS k (partner_id, id)
             JOIN payments p ON p.partner_id = k.partner_id AND p.mode = 'live' AND p.id = k.id`,
    values: [
      ended.map(({ partnerId }) => uuidFromId(partnerId)),
      ended.map(({ paymentId }) => uuidFromId(paymentId)),
    ],
  });
  await guard.free(rows.map(({ id, qrc_id }) => ({ qrcId: qrc_id, paymentId: idFromUuid('pay', id) })));
}
