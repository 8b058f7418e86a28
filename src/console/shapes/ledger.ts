import type { Mode } from './common.ts';

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
  kind: 'credit' | 'grant' | 'hold' | 'settle' | 'release' | 'refund';
  from: string;
  to: string;
  amount_usdt: string;
  available_after_usdt: string | null;
  payment_id: string | null;
  reference: string | null;
}

/** Sums over all partners; each column adds up to zero. */
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
