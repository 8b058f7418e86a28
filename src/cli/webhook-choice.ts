import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import * as webhooks from '../webhooks/index.ts';
import type { Context } from './command.ts';
import { RefusedError, refuse } from './output.ts';

export const noWebhook = (partner: string) =>
  new RefusedError('no_webhook', `${partner} has no webhook: set one with ${programName} webhook set.`);

export const modesOf = ({ mode }: Pick<webhooks.Webhook, 'mode'>) => mode ?? 'live and test';

export const severalEndpoints = (partnerId: string, endpoints: webhooks.Webhook[]) =>
  new RefusedError(
    'several_endpoints',
    [
      `${partnerId} has ${endpoints.length} endpoints. Choose one with --endpoint:`,
      ...endpoints.map(one => `  ${one.endpointId}  ${one.url} (${modesOf(one)})`),
    ].join('\n'),
  );

/** The endpoint that was named, or the only one. */
export async function chooseEndpoint(
  { audit }: Context,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'> | undefined,
): Promise<webhooks.Webhook> {
  const endpoints = await webhooks.listWebhooks(audit.pool, partnerId);
  const asked = endpointId ? endpoints.filter(one => one.endpointId === endpointId) : endpoints;
  if (asked.length > 1) throw severalEndpoints(partnerId, asked);
  const [only] = asked;
  if (only) return only;
  if (!endpointId) throw noWebhook(partnerId);
  refuse('no_endpoint', `${partnerId} has no endpoint ${endpointId}: see ${programName} webhook list.`);
}

/** A webhook for machines, without its secret. */
export const webhookObject = (webhook: webhooks.Webhook) => ({
  endpoint_id: webhook.endpointId,
  url: webhook.url,
  mode: webhook.mode,
  state: webhook.state,
  suspended_at: webhook.suspendedAt?.toISOString() ?? null,
  waiting: webhook.waiting,
  given_up: webhook.givenUp,
  events: webhook.events,
  ed25519: webhook.ed25519,
  public_keys: webhooks.keySetPathsOf(webhook),
  extra_events: webhook.events.filter(kind => !webhooks.contractEvents.includes(kind)),
});
