export interface RateNow {
  rate: string;
  mid: string;
  spread_bps: number;
  as_of: string;
  age_sec: number;
  max_age_sec: number;
  stale: boolean;
  sources: {
    source: string;
    outcome: string;
    mid: string | null;
    as_of: string | null;
    reason: string | null;
  }[];
}

export interface RateRules {
  /** Grows with every change; a change names the version it was made on. */
  version: number;
  spread_bps: number;
  band_percent: number;
  jump_percent: number;
  set_by: string | null;
  set_at: string | null;
  reason: string | null;
}

export interface RatesPage {
  now: RateNow | null;
  rules: RateRules;
  history: { at: string; rate: string; mid: string }[];
  changes: RateRules[];
}

export interface WhatIf {
  rate: string | null;
  mid: string | null;
  amount_usdt: string | null;
  /** With the current rules. */
  rate_now: string | null;
  amount_usdt_now: string | null;
  sources: RateNow['sources'];
  alarms: string[];
}
