import { type Id, idFromUuid } from '../base/ids.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
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

export interface Payment {
  paymentId: Id<'pay'>;
  partnerId: Id<'prt'>;
  mode: Mode;
  /** 'rejected' is an attempt that the gateway refused before acceptance: stored, but not a payment for the partner. */
  status: PaymentStatus | 'rejected';
  statusDetail: 'awaiting_gateway' | 'manual_review' | 'gateway_declined' | null;
  idempotencyKey: string;
  requestHash: Buffer;
  externalId: string | null;
  qrcId: string;
  qrUrl: string;
  fingerprint: string;
  recipient: string;
  amountKopecks: bigint;
  microUsdt: bigint;
  rateE4: bigint;
  /** JSON text, as it was accepted. */
  metadata: string;
  gatewayOrderId: string | null;
  errorCode: string | null;
  createdAt: Date;
  settledAt: Date | null;
}

/** What a payment's recipient has returned so far. */
export interface Refunded {
  kopecks: bigint;
  microUsdt: bigint;
}

export interface PaymentRow {
  id: string;
  partner_id: string;
  mode: Mode;
  status: Payment['status'];
  status_detail: Payment['statusDetail'];
  idempotency_key: string;
  request_hash: Buffer;
  external_id: string | null;
  qrc_id: string;
  qr_url: string;
  fingerprint: string;
  recipient: string;
  amount_kopecks: bigint;
  micro_usdt: bigint;
  rate_e4: bigint;
  metadata: string;
  gateway_order_id: string | null;
  error_code: string | null;
  created_at: Date;
  settled_at: Date | null;
}

/**
 * Named, since `*` means other columns after a migration: a prepared statement with it fails in processes that run on.
 * `alias` is the name of the table in the statement.
 */
export const paymentColumns = (alias: string) => rowColumns.map(column => `${alias}.${column}`).join(', ');

const rowColumns: (keyof PaymentRow)[] = [
  'id',
  'partner_id',
  'mode',
  'status',
  'status_detail',
  'idempotency_key',
  'request_hash',
  'external_id',
  'qrc_id',
  'qr_url',
  'fingerprint',
  'recipient',
  'amount_kopecks',
  'micro_usdt',
  'rate_e4',
  'metadata',
  'gateway_order_id',
  'error_code',
  'created_at',
  'settled_at',
];

export const toPayment = (row: PaymentRow): Payment => ({
  paymentId: idFromUuid('pay', row.id),
  partnerId: idFromUuid('prt', row.partner_id),
  mode: row.mode,
  status: row.status,
  statusDetail: row.status_detail,
  idempotencyKey: row.idempotency_key,
  requestHash: row.request_hash,
  externalId: row.external_id,
  qrcId: row.qrc_id,
  qrUrl: row.qr_url,
  fingerprint: row.fingerprint,
  recipient: row.recipient,
  amountKopecks: row.amount_kopecks,
  microUsdt: row.micro_usdt,
  rateE4: row.rate_e4,
  metadata: row.metadata,
  gatewayOrderId: row.gateway_order_id,
  errorCode: row.error_code,
  createdAt: row.created_at,
  settledAt: row.settled_at,
});

/** ISO 8601 with offset and microseconds; the clock has milliseconds, so the last three are zeros. */
export const formatInstant = (instant: Date) => instant.toISOString().replace('Z', '000+00:00');

/**
 * The payment object of the contract, as JSON text. Answers and webhooks both use it, so that they cannot differ. It is
 * put together by hand since `metadata` must keep the bytes that the partner sent. Without refunds it is as it was before there
 * were any.
 */
export function paymentObject(payment: Payment, refunded?: Refunded): string {
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
