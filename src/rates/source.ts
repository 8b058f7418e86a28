export interface Quote {
  midE4: bigint;
  asOfMs: number;
}

/** Where quotes for 1 USDT come from. */
export interface RateSource {
  name: string;
  /** A fixed rate of the operator, not of a market: counts without a second source that agrees. */
  isSetByOperator?: boolean;
  /** Rejects with a short reason when there is no quote that can be trusted. */
  fetch(signal: AbortSignal): Promise<Quote>;
}
