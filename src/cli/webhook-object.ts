import { contractEvents, keySetPathsOf, type Webhook } from '../webhooks/index.ts';

/** A webhook for machines, without its secret. */
export const webhookObject = (webhook: Webhook) => ({
  endpoint_id: webhook.endpointId,
  url: webhook.url,
  mode: webhook.mode,
  state: webhook.state,
  suspended_at: webhook.suspendedAt?.toISOString() ?? null,
  waiting: webhook.waiting,
  given_up: webhook.givenUp,
  events: webhook.events,
  ed25519: webhook.ed25519,
  public_keys: keySetPathsOf(webhook),
  extra_events: webhook.events.filter(kind => !contractEvents.includes(kind)),
});
