import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type Pool, readValue } from '../../db/postgres/index.ts';
import type { PaymentSignals } from '../signals.ts';
import { findPayment } from '../store.ts';
import { bookOf } from './book.ts';
import { listRefunds, mayBeRefunded, type Refund } from './refunded.ts';

interface TestRefundDeps {
  pool: Pool;
  clock: Clock;
  signals: Pick<PaymentSignals, 'eventWritten'>;
}

interface WantedRefund {
  partnerId: Id<'prt'>;
  paymentId: Id<'pay'>;
  /** Undefined: what is left of the payment. */
  amountKopecks: bigint | undefined;
  /** The partner's: each is refunded once. */
  reference: string;
}

type TestRefund =
  | { outcome: 'refunded'; refund: Refund }
  | { outcome: 'no_payment' | 'not_paid' | 'too_much' | 'conflict' | 'too_many' };

/**
 * Enough for any test, and the ledger does not fill up with it. Counted without a lock: a process makes two at a time for a partner, so
 * a few may pass the limit together. It guards no money, and is not worth another transaction.
 */
const maxPerDay = 100;

/** A simulated refund of a test payment, booked and reported as those that the payment gateway lists. */
export async function refundTestPayment(deps: TestRefundDeps, wanted: WantedRefund): Promise<TestRefund> {
  const { pool, clock, signals } = deps;
  const { partnerId, paymentId, reference } = wanted;
  const payment = await findPayment(pool, { partnerId, mode: 'test' }, paymentId);
  if (!payment || payment.status === 'rejected') return { outcome: 'no_payment' };
  if (!mayBeRefunded(payment)) return { outcome: 'not_paid' };
  const refundId = `test:${partnerId}:${reference}`;
  const find = async () => {
    const refunds = await listRefunds(pool, paymentId);
    const refund = refunds.find(one => one.refundId === refundId);
    return { refund, leftKopecks: payment.amountKopecks - (refunds.at(-1)?.kopecks ?? 0n) };
  };
  const before = await find();
  const amountKopecks = wanted.amountKopecks ?? before.refund?.amountKopecks ?? before.leftKopecks;
  if (amountKopecks === 0n) return { outcome: 'too_much' };
  if (!before.refund && (await countToday(deps, partnerId)) >= maxPerDay) return { outcome: 'too_many' };
  const refund = { refundId, uuid: uuidFromId(paymentId), amountKopecks, createdAt: instantOf(clock) };
  const [verdict] = await bookOf(deps, 'test', [refund]);
  if (verdict === 'booked') signals.eventWritten.emit(paymentId);
  switch (verdict) {
    case 'booked':
    case 'known':
      return { outcome: 'refunded', refund: (await find()).refund! };
    case 'conflict':
    case 'too_much':
    case 'no_payment':
      return { outcome: verdict };
    case 'reference_taken':
      return { outcome: 'conflict' };
    default:
      throw new Error(`a test refund of ${paymentId}: ${verdict}`);
  }
}

/** Since midnight UTC. Only the last ones are read, however many there are. */
const countToday = ({ pool, clock }: TestRefundDeps, partnerId: Id<'prt'>) =>
  readValue<number>(pool, {
    text: `SELECT count(*)::int AS count
             FROM (SELECT booked_at FROM refunds WHERE partner_id = $1 AND mode = 'test'
                    ORDER BY event_id DESC LIMIT ${maxPerDay}) AS last
            WHERE booked_at >= date_trunc('day', $2::timestamptz, 'UTC')`,
    values: [uuidFromId(partnerId), instantOf(clock)],
  });
