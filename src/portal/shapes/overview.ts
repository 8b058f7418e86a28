import type { ModeName } from '../../web/index.ts';

export interface Overview {
  mode: ModeName;
  /** The oldest first, UTC, without gaps; null: not counted yet, the next answer may have it. */
  days: ({
    day: string;
    created: number;
    succeeded: number;
    failed: number;
    /** The sum of payments that succeeded. */
    turnover_rub: string;
    /** At the end of the day, or now. */
    available_usdt: string;
  } | null)[];
  /** All these days together. `success_share` counts finished payments; null when there are none. */
  created: number;
  succeeded: number;
  failed: number;
  success_share: number | null;
  turnover_rub: string;
  spent_usdt: string;
  is_complete: boolean;
  balance: { available_usdt: string; held_usdt: string };
  rate: { rate: string; as_of: string; is_stale: boolean } | null;
  limits: Limits;
  webhook_state: 'none' | 'active' | 'failing' | 'suspended';
  is_maintenance: boolean;
}

export interface Limits {
  min_rub: string;
  max_rub: string;
  daily_rub: string | null;
  concurrent: number;
  create_rps: number;
  create_burst: number;
  other_rps: number;
}
