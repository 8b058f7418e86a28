import type { ModeName, Page } from '../../web/index.ts';

export interface KeyRow {
  key_id: string;
  label: string | null;
  mode: ModeName;
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

/** All keys, the newest first. */
export type KeyList = Page<KeyRow>;

/** The only answer with a key. */
export interface NewKey {
  key_id: string;
  key: string;
}
