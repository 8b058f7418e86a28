import type { RequestRow } from './approvals.ts';
import type { LockedQuotes, Mode } from './common.ts';

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
  /** `failing`: the last events were not accepted. */
  webhook_state: 'none' | 'active' | 'failing' | 'suspended';
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

export interface PartnerDetail {
  partner: PartnerRow;
  limits: Limits;
  balances: Record<Mode, Money>;
  quotes: LockedQuotes;
  keys: KeyRow[];
  /** The first one, then those of live and of test mode. */
  endpoints: EndpointRow[];
  /** Which kinds of events an endpoint can ask for. */
  event_kinds: string[];
  members: { name: string; role: string; joined_at: string }[];
  requests: RequestRow[];
}

export interface EndpointRow {
  endpoint_id: string;
  /** The webhook of the contract: it gets both modes, and all events of the contract. */
  is_first: boolean;
  /** Null: both. */
  mode: Mode | null;
  url: string;
  state: 'active' | 'failing' | 'suspended';
  waiting: number;
  given_up: number;
  events: string[];
  /** Requests are also signed with the partner's Ed25519 key. */
  has_ed25519: boolean;
}

export interface AttemptRow {
  event_id: string;
  endpoint_id: string;
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
    name: string;
    expected: 'accept' | 'refuse';
    answered: string;
    passed: boolean;
    duration_ms: number;
  }[];
}
