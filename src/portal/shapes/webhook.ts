import type { ModeName } from '../../web/index.ts';

export interface EndpointRow {
  endpoint_id: string;
  /** The webhook of the contract: it gets both modes, and all events of the contract. */
  is_first: boolean;
  /** Null: both. */
  mode: ModeName | null;
  url: string;
  state: 'active' | 'failing' | 'suspended';
  /** Events still to be sent. */
  waiting: number;
  /** Events whose attempts have all failed. */
  given_up: number;
  events: string[];
  /** Requests are also signed with the partner's Ed25519 key. */
  has_ed25519: boolean;
  /** Where its public keys are, live before test. */
  public_keys: string[];
  /** Until then the secret before the last change signs as well. */
  old_secret_until: string | null;
}

export interface WebhookPage {
  /** The first one of the contract, then the others; empty: no address is set. */
  endpoints: EndpointRow[];
  event_kinds: string[];
  /** Per mode. */
  max_endpoints: number;
}

/** The newest first. */
export interface Secrets {
  secrets: string[];
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

export interface DeliveryRow {
  event_id: string;
  endpoint_id: string;
  event: string;
  event_at: string;
  payment_id: string;
  /** `none`: never queued, or more than thirty days ago. */
  state: 'pending' | 'delivered' | 'failed' | 'none';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt: { at: string; http_status: number | null; error: string | null } | null;
}

export interface DeliveryDetail {
  delivery: DeliveryRow;
  /** As every attempt sends it. The signature is not stored, and so not among the headers. */
  request: { headers: Record<string, string>; body: string };
  /** Oldest first. */
  attempts: {
    attempt: number;
    at: string;
    http_status: number | null;
    error: string | null;
    duration_ms: number;
  }[];
}
