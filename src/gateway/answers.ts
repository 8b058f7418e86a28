import type {
  DeclineCode,
  ListedOrder,
  ListedRefund,
  OrderAnswer,
  OrderPage,
  RefundPage,
  Resolution,
  Unknown,
} from './gateway.ts';

/** An answer of the gateway, not yet interpreted. */
export interface Answer {
  status: number;
  body: Record<string, unknown> | undefined;
  text: string;
}

export function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The longest texts of an answer that are read, in UTF-16 units. A name is indexed, and an index holds no more than 2 704
 * bytes: 500 units are at most 1 500 bytes, in lower case 2 250. A longer text makes the answer unreadable. It is not cut:
 * a shortened name would pass the list of blocked recipients.
 */
const maxName = 500;
const maxPurpose = 2_000;
const maxFingerprint = 2_000;
const maxOrderId = 256;
const maxCursor = 2_000;
const maxReference = 1_024;
/** Characters that the service itself says about an answer, which can quote it. */
const maxReason = 200;

/** PostgreSQL stores no NUL. */
const isText = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength && !value.includes('\0');

export function readResolveAnswer({ status, body }: Answer): Resolution {
  if (status === 200) return readResolution(body);
  if (
    (status === 404 && body?.code === 'QR_CODE_NOT_FOUND') ||
    (status === 410 && body?.code === 'QR_EXPIRED')
  ) {
    return { outcome: 'invalid_qr' };
  }
  return { outcome: status === 503 ? 'gateway_unavailable' : 'qr_unresolvable' };
}

function readResolution(body: Record<string, unknown> | undefined): Resolution {
  const { qrc_id, scenario, recipient, recipient_id, amount_kopecks, purpose, fingerprint } = body ?? {};
  const isAmountValid =
    amount_kopecks === null || (Number.isSafeInteger(amount_kopecks) && Number(amount_kopecks) > 0);
  if (
    !isText(qrc_id, maxName) ||
    !isText(scenario, maxName) ||
    !isText(recipient, maxName) ||
    !isText(recipient_id, maxName) ||
    !isText(purpose, maxPurpose) ||
    !isText(fingerprint, maxFingerprint) ||
    !isAmountValid
  ) {
    return { outcome: 'qr_unresolvable' };
  }
  const amountKopecks = amount_kopecks === null ? null : BigInt(amount_kopecks as number);
  return {
    outcome: 'resolved',
    qr: {
      qrcId: qrc_id,
      scenario,
      recipient,
      recipientId: recipient_id,
      amountKopecks,
      purpose,
      fingerprint,
    },
  };
}

const refusals = {
  '409 QR_CHANGED': 'qr_changed',
  '409 VOIDED': 'voided',
  '429 BUSY': 'gateway_busy',
  '503 UNAVAILABLE': 'gateway_unavailable',
} as const;

export function readRefusal({ status, body }: Answer) {
  const code = refusals[`${status} ${body?.code}` as keyof typeof refusals];
  return code ? ({ outcome: 'refused', code } as const) : undefined;
}

/** The gateway's reasons as codes of the partner contract; all others are `gateway_declined`. */
const declineCodes = new Map<unknown, DeclineCode>(
  Object.entries({
    QR_EXPIRED: 'qr_expired',
    QR_CODE_NOT_FOUND: 'qr_expired',
    QR_ALREADY_PAID: 'qr_already_paid',
    ACCOUNT_BLOCKED: 'recipient_unavailable',
    ACCOUNT_CLOSED: 'recipient_unavailable',
    LIMIT_EXCEEDED: 'limit_exceeded',
    SUSPECTED_FRAUD: 'suspected_fraud',
  }),
);

/** Declined for one of these reasons is an unknown outcome: the gateway itself has no final answer. */
const inconclusiveReasons = new Set([
  'PAYER_BANK_TIMEOUT',
  'GATEWAY_TIMEOUT',
  'UNEXPECTED_GATEWAY_RESPONSE',
  'OPERATION_IN_PROGRESS',
  'UNKNOWN_ERROR',
]);

export function readOrder({ status, body }: Answer, expectedKopecks: bigint): OrderAnswer | Unknown {
  // The reason becomes an alarm, and so a message in the staff chat: it must not grow with the answer.
  const unknown = (why: string): Unknown => ({ outcome: 'unknown', why: why.slice(0, maxReason) });
  if (status !== 200 || !body) return unknown(`status ${status}${body ? '' : ', no readable body'}`);
  const { order_id: orderId, state, reason, amount_kopecks: amountKopecks } = body;
  if (!isText(orderId, maxOrderId) || orderId === '') return unknown('an order without a usable id');
  if (amountKopecks !== undefined && amountKopecks !== Number(expectedKopecks)) {
    return { ...unknown(`an order over another amount (${amountKopecks} kopecks)`), contradicts: true };
  }
  if (state === 'succeeded') return { outcome: state, orderId, ...refundsIn(body) };
  if (state === 'accepted') return { outcome: state, orderId };
  if (state !== 'declined') return unknown(`a state of ${JSON.stringify(state)}`);
  if (inconclusiveReasons.has(String(reason))) return unknown(`declined for ${reason}`);
  return { outcome: 'declined', orderId, code: declineCodes.get(reason) ?? 'gateway_declined' };
}

export function readPage(body: Record<string, unknown> | undefined): OrderPage | undefined {
  const { orders, next_cursor: nextCursor } = body ?? {};
  if (!Array.isArray(orders) || !(nextCursor === null || isText(nextCursor, maxCursor))) return undefined;
  const read = orders.map(readListed);
  return read.every(order => order !== undefined) ? { orders: read, nextCursor } : undefined;
}

function readListed(order: unknown): ListedOrder | undefined {
  const fields = (order ?? {}) as Record<string, unknown>;
  const { payment_id, order_id, state, amount_kopecks, created_at, qrc_id, reference } = fields;
  const texts = [payment_id, order_id, state, created_at];
  const createdAt = new Date(String(created_at));
  const isAmountValid = Number.isSafeInteger(amount_kopecks) && Number(amount_kopecks) > 0;
  if (!texts.every(text => isText(text, maxOrderId)) || Number.isNaN(createdAt.getTime()) || !isAmountValid)
    return undefined;
  const [paymentId, orderId, stateName] = texts as string[];
  return {
    paymentId: paymentId!,
    orderId: orderId!,
    state: stateName!,
    amountKopecks: BigInt(amount_kopecks as number),
    createdAt,
    qrcId: isText(qrc_id, maxName) ? qrc_id : null,
    // One order must not hide all others: without its reference it is still an order.
    reference: isText(reference, maxReference) ? reference : null,
  };
}

/** Those that can be read: a refund must not hide the outcome of its order. */
function refundsIn({ refunds }: Record<string, unknown>): { refunds?: ListedRefund[] } {
  const read = Array.isArray(refunds) ? refunds.map(readRefund).filter(refund => refund !== undefined) : [];
  return read.length > 0 ? { refunds: read } : {};
}

export function readRefundPage(body: Record<string, unknown> | undefined): RefundPage | undefined {
  const { refunds, next_cursor: nextCursor } = body ?? {};
  if (!Array.isArray(refunds) || !(nextCursor === null || isText(nextCursor, maxCursor))) return undefined;
  const read = refunds.map(readRefund);
  return read.every(refund => refund !== undefined) ? { refunds: read, nextCursor } : undefined;
}

/** A state that the contract does not have makes it unreadable: whether money came back is then not known. */
function readRefund(refund: unknown): ListedRefund | undefined {
  const fields = (refund ?? {}) as Record<string, unknown>;
  const { refund_id: refundId, payment_id: paymentId, amount_kopecks, created_at, state } = fields;
  const createdAt = new Date(String(created_at));
  const isAmountValid = Number.isSafeInteger(amount_kopecks) && Number(amount_kopecks) > 0;
  const isStateKnown = state === undefined || state === 'succeeded' || state === 'revoked';
  if (!isText(refundId, maxOrderId) || refundId === '' || !isText(paymentId, maxOrderId)) return undefined;
  if (!isText(created_at, maxOrderId) || Number.isNaN(createdAt.getTime())) return undefined;
  if (!isAmountValid || !isStateKnown) return undefined;
  const amountKopecks = BigInt(amount_kopecks as number);
  return { refundId, paymentId, amountKopecks, createdAt, isRevoked: state === 'revoked' };
}
