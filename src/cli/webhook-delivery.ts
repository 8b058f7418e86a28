import { systemClock } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import * as webhooks from '../webhooks/index.ts';
import { endpoint, instant } from './arguments.ts';
import type { Context, DatabaseCommand } from './command.ts';
import { bar, lateLines, listing, refuse, table } from './output.ts';
import { find } from './partner.ts';
import { noWebhook, severalEndpoints } from './webhook-choice.ts';

export async function checkWebhook(context: Context, { partnerId, endpointId }: webhooks.Webhook) {
  const { audit, settings, keyring, progress } = context;
  const sender = webhooks.createSender({ clock: audit.clock, allowPrivate: settings.webhookAllowPrivate });
  const over = new AbortController();
  void tellWhileWaiting(over.signal, progress);
  const vault = webhooks.createVault(keyring);
  const result = await webhooks
    .checkPartner({ audit, sender, vault, keyring }, partnerId, { endpointId })
    .finally(async () => {
      over.abort();
      await sender.close();
    });
  if (result.outcome !== 'checked') throw noWebhook(partnerId);
  const { check, reEnabled } = result;
  const ids = { partner_id: partnerId, endpoint_id: endpointId };
  return describeCheck(ids, check, reEnabled);
}

async function tellWhileWaiting(over: AbortSignal, progress: Context['progress']): Promise<void> {
  for (;;) {
    await systemClock.sleep(2_000, over);
    if (over.aborted) return;
    progress('Waiting for the endpoint …');
  }
}

function describeCheck(ids: Record<string, string>, check: webhooks.WebhookCheck, reEnabled: boolean) {
  const { results, canReceive, passed, tls } = check;
  const expectation = { accept: 'accept', refuse: 'reject' };
  const problems = results.flatMap(result => webhooks.problemText(result) ?? []);
  const conclusion = canReceive
    ? `The endpoint accepts valid events${passed ? ' and rejects all others' : ', but some checks failed'}.`
    : 'The endpoint does not accept valid events. Fix it and check again.';
  return {
    isBad: !canReceive,
    json: { ...ids, ...webhooks.checkObject(check, reEnabled) },
    text: [
      table(results, result => ({
        request: result.name,
        expected: expectation[result.expected],
        response: webhooks.responseText(result),
        ms: result.durationMs,
        passed: result.passed ? 'yes' : 'NO',
      })),
      '',
      ...problems.map(problem => `${problem}.`),
      tls
        ? `TLS: ${tls.protocol}, certificate valid until ${tls.validUntil}.`
        : 'TLS: not used (plain HTTP).',
      conclusion,
      ...(reEnabled ? ['Delivery was suspended and resumes now with the pending events.'] : []),
    ].join('\n'),
  };
}

export const resendCommand = (command: DatabaseCommand) =>
  command('resend', 'resend an event, or all that failed permanently', resend)
    .argument('[event]', 'such as evt_17')
    .option('--endpoint <endpoint>', 'where to; needed if several endpoints get events of its mode', endpoint)
    .option('--failed', 'all events that failed permanently, of all partners')
    .option('--since <time>', 'only those that failed since this time, such as 2026-11-15T10:00:00Z', instant)
    .hook('preAction', self => {
      const { failed = false, since, endpoint: to } = self.opts();
      if ((self.args[0] === undefined) !== failed || (since && !failed) || (to && failed))
        self.error('error: specify an event, or use --failed, optionally with --since');
    });

const resend = (
  context: Context,
  event: string | undefined,
  { since, endpoint: endpointId }: { since?: Date; endpoint?: Id<'whe'> },
) => (event === undefined ? resendAll(context, since ?? new Date(0)) : resendOne(context, event, endpointId));

async function resendOne({ audit }: Context, text: string, endpointId: Id<'whe'> | undefined) {
  const eventId = webhooks.parseEventId(text);
  const result =
    eventId === undefined ? undefined : await webhooks.resendEvent(audit, eventId, { endpointId });
  if (!result || result.outcome === 'no_event')
    refuse('no_event', `There is no event ${text}: IDs look like evt_17.`);
  if (result.outcome === 'several_endpoints') throw severalEndpoints(result.partnerId, result.endpoints);
  if (result.outcome !== 'queued')
    refuse(
      'no_webhook',
      endpointId
        ? `${endpointId} is no endpoint for ${text}: see ${programName} webhook list.`
        : `The partner of ${text} has no webhook that gets such events: see ${programName} webhook list.`,
    );
  const { partnerId, suspended } = result;
  return {
    json: {
      ...{ event_id: text, partner_id: partnerId, endpoint_id: result.endpointId },
      ...{ queued: true, suspended },
    },
    text: suspended
      ? `${text} will be resent to ${partnerId} after a successful ${programName} webhook check.`
      : `${text} is being resent to ${partnerId}.`,
  };
}

async function resendAll({ audit, progress }: Context, since: Date) {
  const show = lateLines(progress);
  const queued = await webhooks.resendFailed(audit, since, (done, of) => show(bar(done, of)));
  const text = `Events to resend: ${queued}. Partners with suspended delivery need ${programName} webhook check first.`;
  return { json: { queued }, text };
}

export async function showLog(
  context: Context,
  partner: string,
  { limit, endpoint: endpointId }: { limit: number; endpoint?: Id<'whe'> },
) {
  const { partnerId } = await find(context, partner);
  const attempts = await webhooks.listAttempts(context.audit.pool, partnerId, limit, { endpointId });
  const json = attempts.map(attempt => ({
    event_id: webhooks.formatEventId(attempt.eventId),
    endpoint_id: attempt.endpointId,
    attempt: attempt.attempt,
    at: attempt.at.toISOString(),
    status: attempt.status,
    error: attempt.error,
    duration_ms: attempt.durationMs,
  }));
  return listing({ attempts: json }, 'attempts', {
    event: 'event_id',
    endpoint: 'endpoint_id',
    attempt: 'attempt',
    'at (UTC)': 'at',
    response: webhooks.responseText,
    ms: 'duration_ms',
  });
}
