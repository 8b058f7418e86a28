import type { OperatorRole, Permission } from '../operators/index.ts';

/** The pages take them from here. */
export type { OperatorRole, Permission };

/**
 * What the console's pages are told, one interface per answer of `/console/api`. The pages import these types and
 * nothing else of the house. Money is text with its unit in the name, times are ISO 8601 in UTC, as in the partner API.
 */

export type Mode = 'live' | 'test';
export type PaymentStatus = 'processing' | 'succeeded' | 'failed';

/** Pages after the first are asked for with `?after=` and the cursor of the one before. */
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

// Access

export interface Session {
  operator: { operator_id: string; name: string; role: OperatorRole };
  permissions: Permission[];
  /** Goes with every request that changes something, as `X-CSRF-Token`. */
  csrf_token: string;
  /** It ends when nothing is done until then, and in any case at the other time. */
  idle_ends_at: string;
  ends_at: string;
}

/** `GET /entrance`: null when nobody has signed in, which is no refusal; the first thing that a page asks. */
export interface Entrance {
  session: Session | null;
}

/** What an invited operator sees before they choose a password. */
export interface Enrolment {
  name: string;
  role: OperatorRole;
  totp_secret: string;
  totp_url: string;
  /** The QR code of the address, as SVG. */
  totp_svg: string;
  expires_at: string;
}

export interface OperatorRow {
  operator_id: string;
  name: string;
  role: OperatorRole;
  state: 'invited' | 'active' | 'disabled';
  created_at: string;
  last_seen_at: string | null;
}

/** Shown once to whoever has made or reset an operator. */
export interface Invitation {
  operator_id: string;
  name: string;
  setup_url: string;
  expires_at: string;
}

export interface SessionRow {
  session_id: string;
  operator_id: string;
  operator: string;
  address: string;
  user_agent: string;
  created_at: string;
  last_seen_at: string;
  ends_at: string;
  is_this_one: boolean;
}

// Overview

export interface Overview {
  now: string;
  /** Of live payments, the oldest minute first, without gaps. */
  per_minute: { at: string; created: number; succeeded: number; failed: number }[];
  /** Of the payments of that time. The share is of those that have ended; null when none has. */
  created: number;
  succeeded: number;
  failed: number;
  processing: number;
  success_share: number | null;
  settle_p50_ms: number | null;
  settle_p99_ms: number | null;
  rate: RateNow | null;
  /** Of all partners, live. */
  balances: { available_usdt: string; held_usdt: string; settled_usdt: string; partners: number };
  review: { count: number; oldest_at: string | null; overdue: number };
  requests_waiting: number;
  partners_to_approve: number;
  deliveries: { waiting: number; failing: number; given_up: number; suspended_partners: number };
  alarms: AlarmRow[];
  maintenance: boolean;
}

export interface AlarmRow {
  alarm_id: string;
  kind: string;
  subject: string;
  detail: string;
  first_at: string;
  last_at: string;
  times: number;
  cleared_at: string | null;
  cleared_by: string | null;
}

// Payments

export interface PaymentRow {
  payment_id: string;
  partner_id: string;
  partner: string;
  mode: Mode;
  status: PaymentStatus;
  status_detail: string | null;
  error_code: string | null;
  external_id: string | null;
  recipient: string;
  qrc_id: string;
  amount_rub: string;
  amount_usdt: string;
  rate: string;
  created_at: string;
  settled_at: string | null;
}

export interface PaymentDetail {
  payment: PaymentRow & {
    qr_url: string;
    idempotency_key: string;
    gateway_order_id: string | null;
    rate_id: string;
    /** As the partner sent it. */
    metadata: string;
    /** A process is paying or asking about it at this moment. */
    is_under_way: boolean;
    next_look_at: string | null;
    support_since: string | null;
  };
  /** The oldest first. */
  timeline: TimelineItem[];
  /** A resolution that waits for a second person. */
  request: RequestRow | null;
  /** Above this amount a resolution needs a second person. */
  needs_second_person: boolean;
}

export interface TimelineItem {
  at: string;
  kind: 'phase' | 'entry' | 'gateway' | 'event' | 'delivery' | 'operator';
  /** A word for the page to translate, such as `created`, `hold`, `pay`, `payment.succeeded`, `payment.resolve`. */
  what: string;
  /** In plain words, if there is more to say. */
  detail: string | null;
  outcome: 'good' | 'bad' | 'open' | null;
  actor: string | null;
  duration_ms: number | null;
  /** What was said, if it was a conversation; without headers, and bodies cut where they are long. */
  exchange: { request: string; response: string | null } | null;
}

export interface ReviewRow extends PaymentRow {
  age_sec: number;
  overdue: boolean;
  tries: number;
  next_look_at: string;
  is_under_way: boolean;
  /** What came of the last call. */
  last_answer: string | null;
  request: RequestRow | null;
}

/** Something that waits for a second person. */
export interface RequestRow {
  request_id: string;
  kind: 'resolve' | 'credit' | 'thresholds';
  /** The payment, the partner, or `service`. */
  subject: string;
  /** What will be done, as it was asked for: `{outcome, reason}`, `{mode, usdt, reference}`, … */
  change: Record<string, string>;
  amount_rub: string | null;
  amount_usdt: string | null;
  reason: string;
  asked_by: string;
  asked_at: string;
  state: 'waiting' | 'approved' | 'refused' | 'withdrawn' | 'void';
  decided_by: string | null;
  decided_at: string | null;
  /** Whether whoever asks may approve it: they have the right, and are not the one who asked for it. */
  may_decide: boolean;
  is_own: boolean;
}

/** Done at once, or waiting for a second person. */
export type Done = { outcome: 'done' } | { outcome: 'waiting'; request: RequestRow };

// Partners

export interface Limits {
  min_rub: string;
  max_rub: string;
  daily_rub: string | null;
  concurrent: number;
  create_rps: number;
  create_burst: number;
  other_rps: number;
}

export interface Money {
  available_usdt: string;
  held_usdt: string;
  settled_usdt: string;
}

export interface PartnerRow {
  partner_id: string;
  name: string;
  state: 'active' | 'suspended';
  live: 'approved' | 'asked' | 'not_approved';
  created_at: string;
  live_balance: Money;
  webhook_state: 'none' | 'active' | 'suspended';
}

export interface KeyRow {
  key_id: string;
  mode: Mode;
  allowed_addresses: string[];
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface PartnerDetail {
  partner: PartnerRow;
  limits: Limits;
  balances: Record<Mode, Money>;
  keys: KeyRow[];
  webhook: { url: string; state: 'active' | 'suspended'; waiting: number; given_up: number } | null;
  members: { name: string; role: string; joined_at: string }[];
  requests: RequestRow[];
}

export interface AttemptRow {
  event_id: string;
  payment_id: string;
  attempt: number;
  at: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
}

export interface CheckResult {
  can_receive: boolean;
  passed: boolean;
  re_enabled: boolean;
  results: {
    question: string;
    expected: 'accept' | 'refuse';
    answered: string;
    passed: boolean;
    duration_ms: number;
  }[];
}

// Books

export interface AccountRow {
  partner_id: string;
  partner: string;
  mode: Mode;
  topup_usdt: string;
  treasury_usdt: string;
  available_usdt: string;
  held_usdt: string;
  settled_usdt: string;
  entries: number;
}

export interface EntryRow {
  entry_no: string;
  at: string;
  kind: 'credit' | 'grant' | 'hold' | 'settle' | 'release';
  from: string;
  to: string;
  amount_usdt: string;
  available_after_usdt: string | null;
  payment_id: string | null;
  reference: string | null;
}

/** Sums over all partners; each column adds up to nothing. */
export interface TrialBalance {
  rows: { account: string; live_usdt: string; test_usdt: string }[];
  total: { live_usdt: string; test_usdt: string };
}

export interface Verification {
  ok: boolean;
  entries: number;
  duration_ms: number;
  invariants: string[];
  findings: { invariant: string; partner_id: string; mode: string; detail: string }[];
}

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
  /** Grows with every change; a change names the one it was made on. */
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
  /** With the rules as they are. */
  rate_now: string | null;
  amount_usdt_now: string | null;
  sources: RateNow['sources'];
  alarms: string[];
}

export interface RecipientRow {
  recipient: string;
  blocked_at: string;
}

export interface ReconciliationRow {
  run_id: string;
  actor: string;
  from: string;
  until: string;
  started_at: string;
  finished_at: string | null;
  orders: number | null;
  payments: number | null;
  differences: number | null;
}

export interface ReconciliationDetail {
  run: ReconciliationRow;
  differences: {
    kind: string;
    payment_id: string | null;
    status: string | null;
    amount_rub: string | null;
    order_id: string | null;
    order_state: string | null;
    order_rub: string | null;
  }[];
}

export interface AuditRow {
  audit_id: string;
  at: string;
  actor: string;
  action: string;
  subject: string;
  before: unknown;
  after: unknown;
}

export interface SettingsPage {
  maintenance: {
    on: boolean;
    windows: { window_id: string; from: string; until: string; planned_by: string }[];
  };
  /** Above these an action needs a second person. */
  thresholds: { version: number; resolve_rub: string; credit_usdt: string };
  requests: RequestRow[];
}
