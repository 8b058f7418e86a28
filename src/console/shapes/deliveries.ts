import type { Mode } from './common.ts';

export interface DeliveryRow {
  event_id: string;
  /** With the event id, the delivery. */
  endpoint_id: string;
  /** Such as `payment.succeeded`. */
  event: string;
  event_at: string;
  partner_id: string;
  partner: string;
  mode: Mode;
  payment_id: string;
  /** `none`: never queued, or more than thirty days ago; only of a delivery that is opened by its id. */
  state: 'pending' | 'delivered' | 'failed' | 'none';
  attempts: number;
  next_attempt_at: string | null;
  last_attempt: { at: string; http_status: number | null; error: string | null } | null;
  /** Null when the endpoint was removed. */
  endpoint: { url: string; state: 'active' | 'failing' | 'suspended' } | null;
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
