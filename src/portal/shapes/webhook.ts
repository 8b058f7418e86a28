import type { EndpointRow as Endpoint } from '../../web/index.ts';

export type { CheckResult, DeliveryDetail, DeliveryRow } from '../../web/index.ts';

export interface EndpointRow extends Endpoint {
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
