export interface WebhookPage {
  /** Null: no address is set. */
  webhook: {
    url: string;
    state: 'active' | 'failing' | 'suspended';
    /** Events still to be sent. */
    waiting: number;
    /** Events whose attempts have all failed. */
    given_up: number;
    extra_events: string[];
    /** Until then the secret before the last change signs as well. */
    old_secret_until: string | null;
  } | null;
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
