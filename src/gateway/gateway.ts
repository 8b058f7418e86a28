import type { Id } from '../base/ids.ts';
import type { TraceContext } from '../telemetry/index.ts';

/** The gateway: six calls, whose answers never confuse "no" with "unknown". */
export interface Gateway {
  resolve(qrUrl: string, requester: Requester): Promise<Resolution>;
  /** Idempotent by payment id: a repeated call never pays twice. */
  pay(order: Order): Promise<OrderAnswer | PayRefusal | Unknown>;
  poll(order: KnownOrder): Promise<OrderAnswer | { outcome: 'order_unknown' } | Unknown>;
  /** Fencing: an order that was not accepted so far is never accepted later. */
  void(order: KnownOrder): Promise<OrderAnswer | { outcome: 'voided' } | Unknown>;
  /** One page of the orders created since then, by creation time; throws when there is no answer. */
  listOrders(since: Date, cursor?: string): Promise<OrderPage>;
  /** One page of the refunds made since then, by creation time; undefined if the gateway has no such list. Throws like `listOrders`. */
  listRefunds(since: Date, cursor?: string): Promise<RefundPage | undefined>;
  close(): Promise<void>;
}

/** The partner that wants to know what a QR code is for. */
export interface Requester {
  partnerId: Id<'prt'>;
  limits: { concurrent: number };
  /** The span that asks, where traces are exported. */
  trace?: TraceContext | undefined;
}

export interface ResolvedQr {
  qrcId: string;
  scenario: string;
  recipient: string;
  recipientId: string;
  amountKopecks: bigint | null;
  purpose: string;
  /** A hash of the data as they were resolved: the gateway refuses a payment when they have changed since. */
  fingerprint: string;
}

export type Resolution =
  | { outcome: 'resolved'; qr: ResolvedQr }
  | { outcome: 'invalid_qr' | 'qr_unresolvable' | 'gateway_busy' | 'gateway_unavailable' };

export interface Order {
  partnerId: Id<'prt'>;
  paymentId: Id<'pay'>;
  qrUrl: string;
  qrcId: string;
  amountKopecks: bigint;
  fingerprint: string;
  /** Kept with the order and given back; at most 1 024 characters that the gateway does not read. */
  reference: string;
  /** The span that sends it, where traces are exported. */
  trace?: TraceContext | undefined;
}

/** The amount is needed to read any answer: one about another amount is not about our order. */
export type KnownOrder = Pick<Order, 'paymentId' | 'amountKopecks'> &
  Partial<Pick<Order, 'partnerId' | 'qrcId' | 'trace'>>;

/** Why a payment failed, in the codes of the partner contract. */
export type DeclineCode =
  | 'gateway_declined'
  | 'qr_expired'
  | 'qr_already_paid'
  | 'recipient_unavailable'
  | 'limit_exceeded'
  | 'suspected_fraud';

/** What SBP calls a paid order; null: the gateway gave one that cannot be used. */
export type OperationNumber = string | null;

export type OrderAnswer =
  | { outcome: 'accepted'; orderId: string }
  | { outcome: 'succeeded'; orderId: string; operationNumber?: OperationNumber; refunds?: ListedRefund[] }
  | { outcome: 'declined'; orderId: string; code: DeclineCode };

/** Refused before acceptance: nothing happened and nothing will. */
export interface PayRefusal {
  outcome: 'refused';
  code: 'qr_changed' | 'gateway_busy' | 'gateway_unavailable' | 'voided';
}

/** Anything may have happened. Never a refusal. */
export interface Unknown {
  outcome: 'unknown';
  why: string;
  /** The answer cannot be true of our order: an operator must check it. */
  contradicts?: true;
}

/** An order in the gateway's list; its payment id need not be ours. */
export interface ListedOrder {
  paymentId: string;
  orderId: string;
  state: string;
  amountKopecks: bigint;
  createdAt: Date;
  /** Null: the gateway does not say for which code it is. */
  qrcId: string | null;
  /** Null: the gateway does not keep it, or what it gave cannot be ours. */
  reference: string | null;
  /** Null: the order was not paid, or the gateway gives none that can be used. */
  operationNumber: string | null;
}

/** What a recipient has returned of a paid order; its payment id need not be ours. */
export interface ListedRefund {
  refundId: string;
  paymentId: string;
  amountKopecks: bigint;
  createdAt: Date;
  /** The gateway has taken it back. */
  isRevoked: boolean;
}

export interface RefundPage {
  refunds: ListedRefund[];
  nextCursor: string | null;
}

export interface OrderPage {
  orders: ListedOrder[];
  nextCursor: string | null;
}
