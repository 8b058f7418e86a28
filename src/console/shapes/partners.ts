import type { EndpointRow, KeyRow, Limits } from '../../web/index.ts';
import type { RequestRow } from './approvals.ts';
import type { LockedQuotes, Mode } from './common.ts';

export type { CheckResult, EndpointRow, KeyRow, Limits } from '../../web/index.ts';

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
