import type { Partner } from './world.ts';

/** One thing a partner wants paid: its key and its body stay the same however often it is sent. */
export interface Order {
  partner: Partner;
  key: string;
  qrcId: string;
  link: string;
  kopecks: number;
}

/** A payment as it was answered; only the fields that are looked at. */
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
 * ok: the payment has ended, and this is its end.
 * failed: refused before any debit, by this call; nothing of it remains.
 * unknown: there may be a payment or not, or there is one without an end. Besides broken connections, time-outs and
 * `processing`, that is 503 `gateway_unavailable` and 500 while the database is under attack: they are also what is
 * said when the answer to a debit got lost and the database could not be asked about it, so the debit may stand.
 * The same key again tells. Where the database is whole, 503 is as definite as any other refusal.
 */
export type Result =
  | { kind: 'ok'; payment: SeenPayment }
  | { kind: 'failed'; status: number; code: string }
  | { kind: 'unknown'; why: string; status?: number; payment?: SeenPayment }
  | { kind: 'balance'; usdt: string };

export interface Call {
  what: 'pay' | 'look' | 'balance';
  order?: Order;
  startedMs: number;
  endedMs: number;
  result: Result;
}
