import type { Id } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import { type Stored, withIds } from '../db/postgres/index.ts';
import type { Mode } from '../ledger/index.ts';

export type PaymentStatus = 'processing' | 'succeeded' | 'failed';

/** Why a payment failed: the gateway's reasons, and that it was never executed. */
export const failureMessages = {
  gateway_declined: 'The payment was declined by the bank or the recipient.',
  qr_expired: 'The QR code has expired.',
  qr_already_paid: 'The QR code has been paid already.',
  recipient_unavailable: 'The recipient cannot receive payments.',
  limit_exceeded: 'A limit of the bank or the recipient was exceeded.',
  suspected_fraud: 'The bank suspected fraud and declined the payment.',
  not_executed: 'The gateway confirmed that the payment was never executed.',
} as const;
export type FailureCode = keyof typeof failureMessages;

/** What the contract's payment object shows. */
export interface ShownPayment {
  paymentId: Id<'pay'>;
  mode: Mode;
  /** 'rejected' is an attempt that the gateway refused before acceptance: stored, but not a payment for the partner. */
  status: PaymentStatus | 'rejected';
  statusDetail: 'awaiting_gateway' | 'manual_review' | 'gateway_declined' | null;
  externalId: string | null;
  recipient: string;
  amountKopecks: bigint;
  microUsdt: bigint;
  rateE4: bigint;
  /** JSON text, as it was accepted. */
  metadata: string;
  errorCode: string | null;
  createdAt: Date;
  settledAt: Date | null;
}

export interface Payment extends ShownPayment {
  partnerId: Id<'prt'>;
  idempotencyKey: string;
  requestHash: Buffer;
  qrcId: string;
  qrUrl: string;
  fingerprint: string;
  gatewayOrderId: string | null;
}

/** What a payment's recipient has returned so far. */
export interface Refunded {
  kopecks: bigint;
  microUsdt: bigint;
}

/** The fields of a payment, with the columns that they are read from. */
const shownFields: Record<keyof ShownPayment, string> = {
  paymentId: 'id',
  mode: 'mode',
  status: 'status',
  statusDetail: 'status_detail',
  externalId: 'external_id',
  recipient: 'recipient',
  amountKopecks: 'amount_kopecks',
  microUsdt: 'micro_usdt',
  rateE4: 'rate_e4',
  metadata: 'metadata',
  errorCode: 'error_code',
  createdAt: 'created_at',
  settledAt: 'settled_at',
};
const allFields: Record<keyof Payment, string> = {
  ...shownFields,
  partnerId: 'partner_id',
  idempotencyKey: 'idempotency_key',
  requestHash: 'request_hash',
  qrcId: 'qrc_id',
  qrUrl: 'qr_url',
  fingerprint: 'fingerprint',
  gatewayOrderId: 'gateway_order_id',
};

export type ShownRow = Stored<ShownPayment>;
export type PaymentRow = Stored<Payment>;

/** Columns are named, since `*` means other ones after a migration: a prepared statement with it fails in processes that run on. */
const columnsOf = (fields: object) => (alias: string) =>
  Object.entries(fields)
    .map(([field, column]) => `${alias}.${column} AS "${field}"`)
    .join(', ');

/** For lists: two thirds of the columns, and of the time to read them. `alias` is the name of the table in the statement. */
export const shownColumns = columnsOf(shownFields);
export const paymentColumns = columnsOf(allFields);

export const toShownPayment = withIds<ShownPayment>({ paymentId: 'pay' });

export const paymentIds = { paymentId: 'pay', partnerId: 'prt' } as const;
export const toPayment = withIds<Payment>(paymentIds);

/** ISO 8601 with offset and microseconds; the clock has milliseconds, so the last three are zeros. */
export const formatInstant = (instant: Date) => `${instant.toISOString().slice(0, -1)}000+00:00`;

/**
 * The payment object of the contract, as JSON text. Answers and webhooks both use it, so that they cannot differ. It is
 * put together by hand since `metadata` must keep the bytes that the partner sent. Without refunds it is as it was before there
 * were any.
 */
export function paymentObject(payment: ShownPayment, refunded?: Refunded): string {
  const fields = JSON.stringify({
    id: payment.paymentId,
    object: 'payment',
    mode: payment.mode,
    status: payment.status,
    status_detail: payment.statusDetail,
    external_id: payment.externalId,
    recipient: payment.recipient,
    amount_rub: formatKopecks(payment.amountKopecks),
    amount_usdt: formatMicroUsdt(payment.microUsdt),
    rate: formatRate(payment.rateE4),
    currency: 'RUB',
    settlement_currency: 'USDT',
    created_at: formatInstant(payment.createdAt),
    settled_at: payment.settledAt && formatInstant(payment.settledAt),
    error: payment.errorCode && {
      code: payment.errorCode,
      message: failureMessages[payment.errorCode as FailureCode] ?? failureMessages.gateway_declined,
    },
    ...(refunded && {
      refunded_rub: formatKopecks(refunded.kopecks),
      refunded_usdt: formatMicroUsdt(refunded.microUsdt),
    }),
  });
  return `${fields.slice(0, -1)},"metadata":${payment.metadata}}`;
}
