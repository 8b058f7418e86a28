import type { RequestRow } from './approvals.ts';

export interface SettingsPage {
  maintenance: {
    on: boolean;
    windows: { window_id: string; from: string; until: string; planned_by: string }[];
  };
  /** Above these an action needs a second operator. */
  thresholds: { version: number; resolve_rub: string; credit_usdt: string };
  requests: RequestRow[];
}
