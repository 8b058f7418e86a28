/** What a partner gets for 1 USDT, and what an amount costs. */
export interface RatePage {
  /** Null: there is no rate yet. */
  now: { rate: string; as_of: string; max_age_sec: number; is_stale: boolean } | null;
  /** The oldest first. */
  history: { at: string; rate: string }[];
}

export interface Quote {
  amount_rub: string;
  amount_usdt: string;
  rate: string;
  /** Payments are closed until the rate is fresh. */
  is_stale: boolean;
  /** Whether the limits of the partner allow a payment of this amount. */
  is_within_limits: boolean;
  /** What it costs with a locked rate; null: this service locks none. */
  locked: { amount_usdt: string; rate: string; lifetime_sec: number } | null;
}

export interface LockedQuotes {
  /** That a payment can still use; those that expire first are at the top. */
  data: {
    quote_id: string;
    amount_rub: string;
    amount_usdt: string;
    rate: string;
    locked_at: string;
    expires_at: string;
  }[];
  /** The sum of all of them, and how much may be locked at the same time. */
  locked_usdt: string;
  max_usdt: string;
}
