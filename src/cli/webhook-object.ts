import type { Webhook } from '../webhooks/index.ts';

/** A webhook for machines, without its secret. */
export const webhookObject = (webhook: Webhook) => ({
  url: webhook.url,
  state: webhook.state,
  suspended_at: webhook.suspendedAt?.toISOString() ?? null,
  waiting: webhook.waiting,
  given_up: webhook.givenUp,
  extra_events: webhook.extraEvents,
});
