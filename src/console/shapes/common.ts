/**
 * The answers of `/console/api`, one file per subject. The pages in web/ import these types and nothing else of the
 * service. Money is text with its unit in the name, and times are ISO 8601 in UTC, as in the partner API.
 */

export type Mode = 'live' | 'test';

export type PaymentStatus = 'processing' | 'succeeded' | 'failed';

/** The next page is requested with `?after=` and this cursor. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

export interface Refusal {
  error: {
    /** `signed_out`, `forbidden`, `csrf`, `throttled`, `not_found`, `invalid_request`, `stale` and those of the actions. */
    code: string;
    message: string;
    request_id: string;
  };
}

/** Live quotes whose rate is locked, neither used nor expired, and how much of them there may be. */
export interface LockedQuotes {
  locked_usdt: string;
  max_usdt: string;
  count: number;
}
