import type { Id } from '../base/ids.ts';

/** What the bank side is to the service: six questions, and answers that never confuse "no" with "don't know". */
export interface Gateway {
  resolve(qrUrl: string): Promise<Resolution>;
  /** Pays; the same payment id again never pays twice. */
  pay(order: Order): Promise<OrderAnswer | PayRefusal | Unknown>;
  poll(order: KnownOrder): Promise<OrderAnswer | { outcome: 'order_unknown' } | Unknown>;
  /** Makes sure that an order that was never accepted never will be. */
  void(order: KnownOrder): Promise<OrderAnswer | { outcome: 'voided' } | Unknown>;
  /** Orders created since then, in the order of their creation, a page at a time; throws when they cannot be had. */
  listOrders(since: Date, cursor?: string): Promise<OrderPage>;
  close(): Promise<void>;
}

export interface ResolvedQr {
  qrcId: string;
  scenario: string;
  recipient: string;
  recipientId: string;
  amountKopecks: bigint | null;
  purpose: string;
  /** Names the data as they were when resolved; paying with another one is refused. */
  fingerprint: string;
}

export type Resolution =
  | { outcome: 'resolved'; qr: ResolvedQr }
  | { outcome: 'invalid_qr' | 'qr_unresolvable' | 'gateway_unavailable' };

export interface Order {
  paymentId: Id<'pay'>;
  qrUrl: string;
  qrcId: string;
  amountKopecks: bigint;
  fingerprint: string;
}

/** An answer about an order over another amount is no answer, so the amount is needed to understand any. */
export type KnownOrder = Pick<Order, 'paymentId' | 'amountKopecks'>;

/** Why a payment failed, as the partner is told. */
export type DeclineCode =
  | 'gateway_declined'
  | 'qr_expired'
  | 'qr_already_paid'
  | 'recipient_unavailable'
  | 'limit_exceeded'
  | 'suspected_fraud';

export type OrderAnswer =
  | { outcome: 'accepted'; orderId: string }
  | { outcome: 'succeeded'; orderId: string }
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
  /** It was an answer, but one that cannot be true of our order: people must look. */
  contradicts?: true;
}

/** An order as the bank side lists it, whoever it says it is for. */
export interface ListedOrder {
  paymentId: string;
  orderId: string;
  state: string;
  amountKopecks: bigint;
  createdAt: Date;
}

export interface OrderPage {
  orders: ListedOrder[];
  nextCursor: string | null;
}
