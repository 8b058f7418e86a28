import type { AlarmObject } from '../../alarms/index.ts';
import type { LockedQuotes } from './common.ts';
import type { RateNow } from './rates.ts';

export interface Overview {
  now: string;
  /** Live payments, the oldest minute first, without gaps. */
  per_minute: { at: string; created: number; succeeded: number; failed: number }[];
  /** Payments created in these minutes. `success_share` counts finished ones; null when there are none. */
  created: number;
  succeeded: number;
  failed: number;
  processing: number;
  success_share: number | null;
  settle_p50_ms: number | null;
  settle_p99_ms: number | null;
  rate: RateNow | null;
  /** The sum over all partners, live mode. */
  balances: { available_usdt: string; held_usdt: string; settled_usdt: string; partners: number };
  quotes: LockedQuotes;
  review: { count: number; oldest_at: string | null; overdue: number };
  requests_waiting: number;
  deposits_held: number;
  partners_to_approve: number;
  deliveries: { waiting: number; failing: number; given_up: number; suspended_partners: number };
  alarms: AlarmRow[];
  maintenance: boolean;
}

export type AlarmRow = AlarmObject;
