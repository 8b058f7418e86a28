import type { TimelineItem as Item, PaymentFacts, PaymentRow, PaymentStatus } from '../../web/index.ts';

export type { PaymentRow };

/** Sums over the payments that a search finds. */
export interface PaymentTotals {
  /** Those with payments. */
  totals: { state: PaymentStatus | 'manual_review'; count: number; rub: string; usdt: string }[];
  /** False: there are too many payments, and only the newest were counted. */
  is_complete: boolean;
}

export interface PaymentDetail {
  payment: PaymentRow &
    PaymentFacts & {
      /** The locked quote that its rate is from; null: it has the rate of its time. */
      quote: { quote_id: string; locked_at: string } | null;
    };
  /** The oldest first. */
  timeline: TimelineItem[];
}

export type TimelineItem = Item<'phase' | 'entry' | 'event' | 'delivery'>;
