import type { TimelineItem as Item, PaymentRow as Payment, PaymentFacts } from '../../web/index.ts';
import type { PartnerBalance, RequestRow } from './approvals.ts';
import type { Mode, PaymentStatus } from './common.ts';

export interface PaymentRow extends Payment {
  partner_id: string;
  partner: string;
  qrc_id: string;
}

/** Sums over the payments that a search finds. Live and test money are never summed together. */
export interface PaymentTotals {
  /** Those with payments. */
  totals: {
    mode: Mode;
    state: PaymentStatus | 'manual_review';
    count: number;
    rub: string;
    usdt: string;
  }[];
  /** False: there are too many payments, and only the newest were counted. */
  is_complete: boolean;
}

export interface PaymentDetail {
  payment: PaymentRow &
    PaymentFacts & {
      gateway_order_id: string | null;
      /** A process holds its lease: it is paying or polling the gateway now. */
      is_under_way: boolean;
      next_poll_at: string | null;
      support_since: string | null;
      /** The locked quote that its rate is from; null: it has the rate of its time. */
      quote: { quote_id: string; locked_at: string; spread_percent: number } | null;
    };
  /** The oldest first. */
  timeline: TimelineItem[];
  /** A decision that waits for a second operator. */
  request: RequestRow | null;
  /** The partner's, in the mode of the payment. */
  balance: PartnerBalance;
  /** Whether a decision on this amount needs a second operator. */
  needs_second_operator: boolean;
}

export interface TimelineItem
  extends Item<'phase' | 'entry' | 'gateway' | 'event' | 'delivery' | 'operator'> {
  actor: string | null;
  /** The bodies of a call to the gateway, without headers; long ones are cut. */
  gateway_call: { request: string; response: string | null } | null;
}

export interface ReviewRow extends PaymentRow {
  age_sec: number;
  overdue: boolean;
  tries: number;
  next_poll_at: string;
  is_under_way: boolean;
  /** The result of the last call to the gateway. */
  last_answer: { call: string; result: string; http_status: number | null; error: string | null } | null;
  request: RequestRow | null;
}
