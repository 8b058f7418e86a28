import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { OperatorRole } from '../../src/operators/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { openingsOf } from './openings.ts';

interface ReviewOptions {
  clock?: Clock;
  amountKopecks?: bigint;
  /** The process that holds its lease. */
  leaseHolder?: number;
}

/** A debited payment without an answer of the bank side, in review. Needs a rate and 12 USDT. */
export async function openInReview(
  pool: Pool,
  partnerId: Id<'prt'>,
  { clock = systemClock, amountKopecks = 100_000n, leaseHolder }: ReviewOptions = {},
): Promise<Id<'pay'>> {
  const paymentId = newId('pay', clock);
  const opening = await openingsOf(pool, clock);
  const qrcId = `AD${paymentId.slice(4).toUpperCase()}`;
  const opened = await createPaymentWriter(pool, clock).open(
    opening(partnerId, {
      ...{ paymentId, amountKopecks, microUsdt: 11_000_000n, leaseHolder: leaseHolder ?? null },
      ...{ externalId: `order of ${paymentId}`, qrcId, qrUrl: `https://qr.nspk.ru/${qrcId}` },
      ...{ idempotencyKey: `key of ${paymentId}`, recipient: 'Пятёрочка' },
      metadata: '{"note":"as it was sent"}',
    }),
  );
  if (opened.verdict !== 'opened') throw new Error(opened.verdict);
  await pool.query(`UPDATE payments SET status_detail = 'manual_review' WHERE id = $1`, [
    uuidFromId(paymentId),
  ]);
  await pool.query('UPDATE open_payments SET awaiting_gateway = false WHERE payment_id = $1', [
    uuidFromId(paymentId),
  ]);
  return paymentId;
}

let operators = 0;

/** An operator with a password, written past enrolment. */
export async function insertOperator(
  pool: Pool,
  role: OperatorRole,
  name = `${role}-${++operators}`,
  clock = systemClock,
): Promise<{ operatorId: Id<'opr'>; name: string }> {
  const operatorId = newId('opr', clock);
  await pool.query(
    `INSERT INTO operators (id, name, role, created_at, password_hash, totp_secret) VALUES ($1, $2, $3, $4, 'none', $5)`,
    [uuidFromId(operatorId), name, role, new Date(clock.nowMs()), Buffer.alloc(1)],
  );
  return { operatorId, name };
}
