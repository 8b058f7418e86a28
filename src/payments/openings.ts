import { type Id, uuidFromId } from '../base/ids.ts';
import type { TraceContext } from '../telemetry/index.ts';
import type { FailureCode, Payment } from './payment.ts';

/** How a test payment ends that needs no time. */
export type Ending = { outcome: 'succeeded' } | { outcome: 'failed'; code: FailureCode };

/** A payment that is ready to be opened: its future row, and what `payments_open` needs for its checks. */
export interface NewPayment
  extends Omit<
    Payment,
    'status' | 'statusDetail' | 'gatewayOrderId' | 'errorCode' | 'createdAt' | 'settledAt'
  > {
  rateId: bigint;
  /** With a locked quote: when that expires. */
  rateStaleAt: Date;
  nextAt: Date;
  /** The process that pays it; null for a test payment whose outcome comes with time alone. */
  leaseHolder: number | null;
  /** A test payment that ends when it is opened. */
  ending?: Ending;
  /** The recipient's name and id, as blocked ones are compared. */
  folded?: { name: string; id: string };
  /** With a daily limit of the key: the key that its turnover is counted for. */
  keyLimit?: { keyId: string; dailyKopecks: bigint };
  /** The locked quote whose rate it has. */
  quoteId?: Id<'qte'>;
  /** Where traces are exported: the span that opens it, then the one of its request. */
  trace?: TraceContext | undefined;
}

/** The columns of the SQL type `payment_opening`, in its order. */
const openingColumns: [type: string, read: (payment: NewPayment) => unknown][] = [
  ['uuid', payment => uuidFromId(payment.partnerId)],
  ['mode', payment => payment.mode],
  ['uuid', payment => uuidFromId(payment.paymentId)],
  ['text', payment => payment.idempotencyKey],
  ['bytea', payment => payment.requestHash],
  ['text', payment => payment.externalId],
  ['text', payment => payment.qrcId],
  ['text', payment => payment.qrUrl],
  ['text', payment => payment.fingerprint],
  ['text', payment => payment.recipient],
  ['bigint', payment => payment.amountKopecks],
  ['bigint', payment => payment.microUsdt],
  ['bigint', payment => payment.rateE4],
  ['bigint', payment => payment.rateId],
  ['timestamptz', payment => payment.rateStaleAt],
  ['text', payment => payment.metadata],
  ['timestamptz', payment => payment.nextAt],
  ['int', payment => payment.leaseHolder],
  ['payment_status', payment => payment.ending?.outcome ?? null],
  ['text', payment => (payment.ending && 'code' in payment.ending ? payment.ending.code : null)],
  ['text', payment => payment.folded?.name ?? null],
  ['text', payment => payment.folded?.id ?? null],
  ['text', payment => payment.keyLimit?.keyId ?? null],
  ['bigint', payment => payment.keyLimit?.dailyKopecks ?? null],
  ['uuid', payment => (payment.quoteId === undefined ? null : uuidFromId(payment.quoteId))],
];

export const openingColumnCount = openingColumns.length;

/** An array of `payment_opening`, from the parameters of a statement that begin with this number. */
export const openingArray = (first: number) =>
  `ARRAY(SELECT o::payment_opening FROM unnest(${openingColumns
    .map(([type], index) => `$${first + index}::${type}[]`)
    .join(', ')}) AS o)`;

/** The values of those parameters. */
export const openingValues = (payments: NewPayment[]) => openingColumns.map(([, read]) => payments.map(read));
