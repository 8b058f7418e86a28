import type { RequestRow } from './approvals.ts';

export interface DepositRow {
  deposit_id: string;
  partner_id: string;
  partner: string;
  chain: string;
  /** The name of the chain for people. */
  chain_title: string;
  state: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
  /** Why an operator has to decide, or had to; null if nobody had to. */
  held_for: 'amount' | 'reference' | 'screening' | 'no_answer' | 'late' | 'unread' | null;
  amount_usdt: string;
  transaction_id: string;
  log_index: number;
  sender: string;
  /** The page of the transaction; null if its chain is not configured any more. */
  explorer_url: string | null;
  seen_at: string;
  credited_at: string | null;
  decision_reason: string | null;
  /** The request for approval of a decision on it, if one waits. */
  request: RequestRow | null;
}

export interface DepositChainRow {
  chain: string;
  title: string;
  nodes: number;
  /** Null until the first round of the chain. */
  lag_sec: number | null;
  blocks_behind: number | null;
  checked_at: string | null;
}

export interface DepositChainList {
  data: DepositChainRow[];
  is_screened: boolean;
}
