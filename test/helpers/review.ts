import { type Clock, systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { OperatorRole } from '../../src/operators/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';

interface ReviewOptions {
  clock?: Clock;
  amountKopecks?: bigint;
  /** The process that holds its lease. */
  leaseHolder?: number;
  mode?: 'live' | 'test';
}

/** A debited payment without an answer of the bank side, in review. Needs a rate and 12 USDT. */
export async function openInReview(
  pool: Pool,
  partnerId: Id<'prt'>,
  { clock = systemClock, amountKopecks = 100_000n, leaseHolder, mode = 'live' }: ReviewOptions = {},
): Promise<Id<'pay'>> {
  const paymentId = newId('pay', clock);
  const { rows } = await pool.query('SELECT max(id) AS id FROM rates');
  const opened = await createPaymentWriter(pool, clock).open({
    partnerId,
    mode,
    paymentId,
    idempotencyKey: `key of ${paymentId}`,
    requestHash: Buffer.alloc(32),
    externalId: `order of ${paymentId}`,
    qrcId: `AD${paymentId.slice(4).toUpperCase()}`,
    qrUrl: `https://qr.nspk.ru/AD${paymentId.slice(4).toUpperCase()}`,
    fingerprint: 'f',
    recipient: 'Пятёрочка',
    amountKopecks,
    microUsdt: 11_000_000n,
    rateE4: 925_000n,
    rateId: rows[0].id,
    rateStaleAt: new Date(clock.nowMs() + 60_000),
    metadata: '{"note":"as it was sent"}',
    nextAt: new Date(clock.nowMs() + 60_000),
    leaseHolder: leaseHolder ?? null,
  });
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
): Promise<{ operatorId: Id<'opr'>; name: string }> {
  const operatorId = newId('opr', systemClock);
  await pool.query(
    `INSERT INTO operators (id, name, role, created_at, password_hash, totp_secret) VALUES ($1, $2, $3, now(), 'none', $4)`,
    [uuidFromId(operatorId), name, role, Buffer.alloc(1)],
  );
  return { operatorId, name };
}
