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

/** What a partner may do, and how often. */
export interface Limits {
  min_rub: string;
  max_rub: string;
  daily_rub: string | null;
  concurrent: number;
  create_rps: number;
  create_burst: number;
  other_rps: number;
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

export interface PaymentRow {
  payment_id: string;
  mode: Mode;
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

/** What only the page of one payment shows. */
export interface PaymentFacts {
  qr_url: string;
  idempotency_key: string;
  /** As the partner sent it. */
  metadata: string;
  /** The request that created it; null: not in the request log, or no more. */
  api_request_id: string | null;
  /** What its recipient has returned; null: nothing. */
  refunded: { rub: string; usdt: string } | null;
}

/** A request to the partner API. */
export interface LoggedRequestRow {
  request_id: string;
  at: string;
  mode: Mode | null;
  key_id: string | null;
  /** Null: it was not valid HTTP. */
  method: string | null;
  /** Without the query string. */
  path: string | null;
  payment_id: string | null;
  status: number;
  error_code: string | null;
  duration_ms: number;
}

export interface KeyRow {
  key_id: string;
  label: string | null;
  mode: Mode;
  state: 'active' | 'revoked' | 'expired';
  scopes: ('read' | 'pay')[];
  max_payment_rub: string | null;
  max_day_rub: string | null;
  allowed_addresses: string[];
  created_at: string;
  expires_at: string | null;
  /** The key that takes its place. */
  rolled_to: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface EndpointRow {
  endpoint_id: string;
  /** The webhook of the contract: it gets both modes, and all events of the contract. */
  is_first: boolean;
  /** Null: both. */
  mode: Mode | null;
  url: string;
  state: 'active' | 'failing' | 'suspended';
  /** Events still to be sent. */
  waiting: number;
  /** Events whose attempts have all failed. */
  given_up: number;
  events: string[];
  /** Requests are also signed with the partner's Ed25519 key. */
  has_ed25519: boolean;
}

export interface DeliveryRow {
  event_id: string;
  endpoint_id: string;
  event: string;
  event_at: string;
  payment_id: string;
  /** `none`: never queued, or more than thirty days ago. */
  state: 'pending' | 'delivered' | 'failed' | 'none';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt: { at: string; http_status: number | null; error: string | null } | null;
}

export interface DeliveryDetail<Row = DeliveryRow> {
  delivery: Row;
  /** As every attempt sends it. The signature is not stored, and so not among the headers. */
  request: { headers: Record<string, string>; body: string };
  /** Oldest first. */
  attempts: {
    attempt: number;
    at: string;
    http_status: number | null;
    error: string | null;
    duration_ms: number;
  }[];
}

export interface CheckResult {
  can_receive: boolean;
  passed: boolean;
  re_enabled: boolean;
  results: {
    name: string;
    expected: 'accept' | 'refuse';
    answered: string;
    passed: boolean;
    duration_ms: number;
  }[];
}

/** The sessions of both apps have this. */
export interface AnySession {
  /** Sent as `X-CSRF-Token` with every request that changes something. */
  csrf_token: string;
  /** The session ends at this time without activity, and at `ends_at` in any case. */
  idle_ends_at: string;
  ends_at: string;
}

export interface SessionRow {
  session_id: string;
  address: string;
  user_agent: string;
  created_at: string;
  last_seen_at: string;
  is_this_one: boolean;
}
