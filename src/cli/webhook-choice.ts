import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import { listWebhooks, type Webhook } from '../webhooks/index.ts';
import type { CommandContext } from './command.ts';
import { RefusedError } from './refused.ts';

export const noWebhook = (partner: string) =>
  new RefusedError('no_webhook', `${partner} has no webhook: set one with ${programName} webhook set.`);

export const modesOf = ({ mode }: Webhook) => mode ?? 'live and test';

export const severalEndpoints = (partnerId: string, endpoints: Webhook[]) =>
  new RefusedError(
    'several_endpoints',
    [
      `${partnerId} has ${endpoints.length} endpoints. Choose one with --endpoint:`,
      ...endpoints.map(one => `  ${one.endpointId}  ${one.url} (${modesOf(one)})`),
    ].join('\n'),
  );

/** The endpoint that was named, or the only one. */
export async function chooseEndpoint(
  { audit }: CommandContext,
  partnerId: Id<'prt'>,
  endpointId: Id<'whe'> | undefined,
): Promise<Webhook> {
  const endpoints = await listWebhooks(audit.pool, partnerId);
  const asked = endpointId ? endpoints.filter(one => one.endpointId === endpointId) : endpoints;
  if (asked.length > 1) throw severalEndpoints(partnerId, asked);
  const [only] = asked;
  if (only) return only;
  if (!endpointId) throw noWebhook(partnerId);
  throw new RefusedError(
    'no_endpoint',
    `${partnerId} has no endpoint ${endpointId}: see ${programName} webhook list.`,
  );
}
