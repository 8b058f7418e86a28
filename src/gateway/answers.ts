import type {
  DeclineCode,
  ListedOrder,
  ListedRefund,
  OperationNumber,
  OrderAnswer,
  OrderPage,
  RefundPage,
  Resolution,
  Unknown,
} from './gateway.ts';

type Fields = Record<string, unknown>;

/** An answer of the gateway, not yet interpreted. */
export interface Answer {
  status: number;
  body: Fields | undefined;
  text: string;
}

export function readObject(text: string): Fields | undefined {
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

/** A positive amount that a number holds exactly. */
const readKopecks = (value: unknown): bigint | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? BigInt(value as number) : undefined;

function readTime(value: unknown): Date | undefined {
  const time = isText(value, maxOrderId) ? new Date(value) : undefined;
  return time && Number.isNaN(time.getTime()) ? undefined : time;
}

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

function readResolution(body: Fields = {}): Resolution {
  const { qrc_id: qrcId, scenario, recipient, recipient_id: recipientId, purpose, fingerprint } = body;
  const amountKopecks = body.amount_kopecks === null ? null : readKopecks(body.amount_kopecks);
  if (
    !isText(qrcId, maxName) ||
    !isText(scenario, maxName) ||
    !isText(recipient, maxName) ||
    !isText(recipientId, maxName) ||
    !isText(purpose, maxPurpose) ||
    !isText(fingerprint, maxFingerprint) ||
    amountKopecks === undefined
  ) {
    return { outcome: 'qr_unresolvable' };
  }
  const qr = { qrcId, scenario, recipient, recipientId, amountKopecks, purpose, fingerprint };
  return { outcome: 'resolved', qr };
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

export const isOrderUnknown = ({ status, body }: Answer) => status === 404 && body?.code === 'ORDER_UNKNOWN';
export const isVoided = ({ status, body }: Answer) => status === 200 && body?.state === 'voided';

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
  if (state === 'succeeded')
    return { outcome: state, orderId, ...operationNumberIn(body), ...refundsIn(body) };
  if (state === 'accepted') return { outcome: state, orderId };
  if (state !== 'declined') return unknown(`a state of ${JSON.stringify(state)}`);
  if (inconclusiveReasons.has(String(reason))) return unknown(`declined for ${reason}`);
  return { outcome: 'declined', orderId, code: declineCodes.get(reason) ?? 'gateway_declined' };
}

/** It must not hide the outcome of its order: one that cannot be used is null. */
export function operationNumberIn({ operation_number: number }: Fields): {
  operationNumber?: OperationNumber;
} {
  if (number === undefined || number === null) return {};
  return { operationNumber: isOperationNumber(number) ? number : null };
}

/** Printed and copied by people: without spaces. */
const isOperationNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^[!-~]{1,64}$/.test(value);

function readItems<Item>(items: unknown, nextCursor: unknown, read: (item: unknown) => Item | undefined) {
  if (!Array.isArray(items) || !(nextCursor === null || isText(nextCursor, maxCursor))) return undefined;
  const found = items.map(read);
  return found.every(item => item !== undefined) ? { found, nextCursor } : undefined;
}

export function readPage(body: Fields = {}): OrderPage | undefined {
  const page = readItems(body.orders, body.next_cursor, readListed);
  return page && { orders: page.found, nextCursor: page.nextCursor };
}

export function readRefundPage(body: Fields = {}): RefundPage | undefined {
  const page = readItems(body.refunds, body.next_cursor, readRefund);
  return page && { refunds: page.found, nextCursor: page.nextCursor };
}

function readListed(order: unknown): ListedOrder | undefined {
  const fields = (order ?? {}) as Fields;
  const { payment_id: paymentId, order_id: orderId, state, qrc_id, reference } = fields;
  const [amountKopecks, createdAt] = [readKopecks(fields.amount_kopecks), readTime(fields.created_at)];
  if (!isText(paymentId, maxOrderId) || !isText(orderId, maxOrderId) || !isText(state, maxOrderId))
    return undefined;
  if (amountKopecks === undefined || !createdAt) return undefined;
  return {
    ...{ paymentId, orderId, state, amountKopecks, createdAt },
    qrcId: isText(qrc_id, maxName) ? qrc_id : null,
    // One order must not hide all others: without its reference it is still an order.
    reference: isText(reference, maxReference) ? reference : null,
    operationNumber: (state === 'succeeded' && operationNumberIn(fields).operationNumber) || null,
  };
}

/** Those that can be read: a refund must not hide the outcome of its order. */
function refundsIn({ refunds }: Fields): { refunds?: ListedRefund[] } {
  const read = Array.isArray(refunds) ? refunds.map(readRefund).filter(refund => refund !== undefined) : [];
  return read.length > 0 ? { refunds: read } : {};
}

/** A state that the contract does not have makes it unreadable: whether money came back is then not known. */
function readRefund(refund: unknown): ListedRefund | undefined {
  const fields = (refund ?? {}) as Fields;
  const { refund_id: refundId, payment_id: paymentId, state } = fields;
  const [amountKopecks, createdAt] = [readKopecks(fields.amount_kopecks), readTime(fields.created_at)];
  const isStateKnown = state === undefined || state === 'succeeded' || state === 'revoked';
  if (!isText(refundId, maxOrderId) || refundId === '' || !isText(paymentId, maxOrderId)) return undefined;
  if (amountKopecks === undefined || !createdAt || !isStateKnown) return undefined;
  return { refundId, paymentId, amountKopecks, createdAt, isRevoked: state === 'revoked' };
}
