import type { ModeName } from '../../web/index.ts';
import type { Limits } from './overview.ts';

interface Money {
  available_usdt: string;
  held_usdt: string;
}

export interface Balance {
  live: Money;
  test: Money;
  limits: Limits;
  /** The bot notifies the team below it; null: never. */
  alert_usdt: string | null;
  /** Where to send USDT; empty: support gives an address. */
  addresses: {
    chain: string;
    /** The name of the chain for people. */
    title: string;
    address: string;
    /** Its QR code. */
    qr_svg: string;
    min_usdt: string;
    usual_minutes: number;
  }[];
  /** The newest first. */
  credits: { mode: ModeName; amount_usdt: string; reference: string; at: string }[];
}

export interface DepositRow {
  deposit_id: string;
  chain: string;
  state: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
  amount_usdt: string;
  transaction_id: string;
  seen_at: string;
  credited_at: string | null;
}
