export interface Quote {
  midE4: bigint;
  asOfMs: number;
}

/** Somebody who says what a USDT is worth. */
export interface RateSource {
  name: string;
  /** Set by a person and not by a market: believed without a second source that agrees. */
  isOperatorsWord?: boolean;
  /** Rejects with a short reason when there is no quote that can be trusted. */
  fetch(signal: AbortSignal): Promise<Quote>;
}
