/**
 * What the answers of `/console/api` and `/portal/api` share. The pages in web/ import these types, the shapes of their own
 * answers, and nothing else of the service. Money is text with its unit in the name, and times are ISO 8601 in UTC, as in
 * the partner API.
 */

export type Mode = 'live' | 'test';

export type PaymentStatus = 'processing' | 'succeeded' | 'failed';

/** The next page is requested with `?after=` and this cursor. */
export interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

/** Something that happened to a payment. */
export interface TimelineItem<Kind extends string> {
  at: string;
  kind: Kind;
  /** A key that the page translates, such as `created`, `hold`, `payment.succeeded`. */
  what: string;
  /** Further facts, by a name that the page translates, as it does codes; null: there is none. */
  facts: Record<string, string | number | null>;
  outcome: 'good' | 'bad' | 'open' | null;
  duration_ms: number | null;
}

export interface Refusal {
  error: {
    /** `signed_out`, `forbidden`, `csrf`, `throttled`, `not_found`, `invalid_request`, `stale` and those of the actions. */
    code: string;
    message: string;
    request_id: string;
  };
}
