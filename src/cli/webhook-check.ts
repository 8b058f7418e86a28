import { systemClock } from '../base/clock.ts';
import {
  checkObject,
  checkPartner,
  createSender,
  createVault,
  responseText,
  type Webhook,
  type WebhookCheck,
} from '../webhooks/index.ts';
import type { CommandContext } from './command.ts';
import { type Output, table } from './output.ts';
import { noWebhook } from './webhook-choice.ts';

export async function checkWebhook(
  context: CommandContext,
  { partnerId, endpointId }: Webhook,
): Promise<Output> {
  const { audit, settings, keyring, progress } = context;
  const sender = createSender({ clock: audit.clock, allowPrivate: settings.webhookAllowPrivate });
  const over = new AbortController();
  void tellWhileWaiting(over.signal, progress);
  const vault = createVault(keyring);
  const result = await checkPartner({ audit, sender, vault, keyring }, partnerId, { endpointId }).finally(
    async () => {
      over.abort();
      await sender.close();
    },
  );
  if (result.outcome !== 'checked') throw noWebhook(partnerId);
  const { check, reEnabled } = result;
  const ids = { partner_id: partnerId, endpoint_id: endpointId };
  return describeCheck(ids, check, reEnabled);
}

async function tellWhileWaiting(over: AbortSignal, progress: CommandContext['progress']): Promise<void> {
  for (;;) {
    await systemClock.sleep(2_000, over);
    if (over.aborted) return;
    progress('Waiting for the endpoint …');
  }
}

function describeCheck(ids: Record<string, string>, check: WebhookCheck, reEnabled: boolean): Output {
  const { results, canReceive, passed, tls } = check;
  const expectation = { accept: 'accept', refuse: 'reject' };
  const conclusion = canReceive
    ? `The endpoint accepts valid events${passed ? ' and rejects all others' : ', but some checks failed'}.`
    : 'The endpoint does not accept valid events. Fix it and check again.';
  return {
    isBad: !canReceive,
    json: { ...ids, ...checkObject(check, reEnabled) },
    text: [
      table(results, result => ({
        request: result.name,
        expected: expectation[result.expected],
        response: responseText(result),
        ms: result.durationMs,
        passed: result.passed ? 'yes' : 'NO',
      })),
      '',
      tls
        ? `TLS: ${tls.protocol}, certificate valid until ${tls.validUntil}.`
        : 'TLS: not used (plain HTTP).',
      conclusion,
      ...(reEnabled ? ['Delivery was suspended and resumes now with the pending events.'] : []),
    ].join('\n'),
  };
}
