import type { Partner } from './world.ts';

/** One payment that a partner wants: its key and its body stay the same however often it is sent. */
export interface Order {
  partner: Partner;
  key: string;
  qrcId: string;
  link: string;
  kopecks: number;
}

/** A payment in an answer; only the fields that are checked. */
export interface SeenPayment {
  id: string;
  status: 'processing' | 'succeeded' | 'failed';
  amount_rub: string;
  amount_usdt: string;
  settled_at: string | null;
  error: { code: string } | null;
}

/**
 * What a partner knows after a call.
 *
 * ok: the payment has ended, and this is its outcome.
 * failed: refused before any debit; nothing remains of it.
 * unknown: there may be a payment or not, or there is an unfinished one. Besides broken connections, timeouts and
 * `processing`, these are 503 `gateway_unavailable` and 500 while faults hit the database: the service also answers
 * them when the answer to a debit got lost and the database could not be queried, so the debit may exist. A repeat
 * with the same key resolves the doubt. Without database faults, 503 is as definite as any other refusal.
 */
export type Result =
  | { kind: 'ok'; payment: SeenPayment }
  | { kind: 'failed'; status: number; code: string }
  | { kind: 'unknown'; why: string; status?: number; payment?: SeenPayment }
  | { kind: 'balance'; usdt: string };

export interface Call {
  what: 'pay' | 'get' | 'balance';
  order?: Order;
  startedMs: number;
  endedMs: number;
  result: Result;
}
