import type { Mode } from './common.ts';

/** The balance of a partner in one mode, as it is now. */
export interface PartnerBalance {
  partner_id: string;
  partner: string;
  mode: Mode;
  available_usdt: string;
  held_usdt: string;
}

/** A change that needs four-eyes approval: a second operator has to decide on it. */
export interface RequestRow {
  request_id: string;
  kind: 'resolve' | 'credit' | 'thresholds' | 'release' | 'deposit';
  /** The payment, the partner, `service`, the unmatched order, or the deposit. */
  subject: string;
  /** The requested change: `{outcome, reason}`, `{mode, usdt, reference}`, … */
  change: Record<string, string>;
  amount_rub: string | null;
  amount_usdt: string | null;
  /** The balance that the change is about; null if it changes none, or is decided, or where lists leave it out. */
  balance: PartnerBalance | null;
  reason: string;
  asked_by: string;
  asked_at: string;
  state: 'waiting' | 'approved' | 'refused' | 'withdrawn' | 'void';
  decided_by: string | null;
  decided_at: string | null;
  /** Whether the signed-in operator may approve it: has the permission and is not the one who asked for it. */
  may_decide: boolean;
  is_own: boolean;
}

/** Done at once, or waiting for a second operator. */
export type Done = { outcome: 'done' } | { outcome: 'waiting'; request: RequestRow };
