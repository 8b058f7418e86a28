import type { TimelineItem as Item, ModeName, PaymentStatus } from '../../web/index.ts';

export interface PaymentRow {
  payment_id: string;
  mode: ModeName;
  status: PaymentStatus;
  status_detail: string | null;
  error_code: string | null;
  external_id: string | null;
  recipient: string;
  amount_rub: string;
  amount_usdt: string;
  rate: string;
  created_at: string;
  settled_at: string | null;
}

/** Sums over the payments that a search finds. */
export interface PaymentTotals {
  /** Those with payments. */
  totals: { state: PaymentStatus | 'manual_review'; count: number; rub: string; usdt: string }[];
  /** False: there are too many payments, and only the newest were counted. */
  is_complete: boolean;
}

export interface PaymentDetail {
  payment: PaymentRow & {
    qr_url: string;
    idempotency_key: string;
    /** As it was sent. */
    metadata: string;
    /** The request that created it; null: not in the request log, or no more. */
    api_request_id: string | null;
    /** What its recipient has returned; null: nothing. */
    refunded: { rub: string; usdt: string } | null;
    /** The locked quote that its rate is from; null: it has the rate of its time. */
    quote: { quote_id: string; locked_at: string } | null;
  };
  /** The oldest first. */
  timeline: TimelineItem[];
}

export type TimelineItem = Item<'phase' | 'entry' | 'event' | 'delivery'>;
