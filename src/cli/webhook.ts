import { Command, Option } from 'commander';
import {
  checkObject,
  checkPartner,
  checkWebhookUrl,
  createNameLookup,
  createSender,
  createVault,
  findWebhook,
  formatEventId,
  hasPrivateAddress,
  listAttempts,
  parseEventId,
  readSecrets,
  resendEvent,
  resendFailed,
  responseText,
  rotateSecret,
  setExtraEvents,
  setWebhook,
  type Webhook,
  type WebhookCheck,
} from '../webhooks/index.ts';
import { instant, positiveCount } from './arguments.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { bar, details, formatInstant, type Output, table } from './output.ts';
import { find, findToChange } from './partner.ts';
import { RefusedError } from './refused.ts';
import { webhookObject } from './webhook-object.ts';

export function webhookCommands(withDatabase: WithDatabase): Command {
  return new Command('webhook')
    .description("manage partners' webhooks")
    .addCommand(
      command('set <partner>', 'set the URL of the endpoint; the first time also creates a signing secret')
        .requiredOption('--url <url>', 'https, public host, port 443 or above 1023')
        .action((partner, { json, url }) => withDatabase(json, context => set(context, partner, url))),
    )
    .addCommand(
      command('show <partner>', 'show URL, state and signing secret').action((partner, { json }) =>
        withDatabase(json, async context => show(context, (await find(context, partner)).partnerId)),
      ),
    )
    .addCommand(
      command(
        'check <partner>',
        'send five test requests to the endpoint; if it accepts a valid event, suspended delivery resumes',
      ).action((partner, { json }) => withDatabase(json, context => check(context, partner))),
    )
    .addCommand(
      command('rotate <partner>', 'create a new signing secret; the old one stays valid for 24 hours')
        .option('--force', 'even if an older secret is still valid; it expires immediately')
        .action((partner, { json, force = false }) =>
          withDatabase(json, context => rotate(context, partner, force)),
        ),
    )
    .addCommand(
      command('events <partner>', 'choose which events beyond those of the contract the endpoint gets')
        .addOption(
          new Option('--refunded <choice>', 'payment.refunded: money of a payment came back')
            .choices(['on', 'off'])
            .makeOptionMandatory(),
        )
        .action((partner, { json, refunded }) =>
          withDatabase(json, context => chooseEvents(context, partner, refunded === 'on')),
        ),
    )
    .addCommand(resendCommand(withDatabase))
    .addCommand(
      command('log <partner>', 'list the latest delivery attempts, newest first')
        .option('--limit <count>', 'number of attempts', positiveCount, 50)
        .action((partner, { json, limit }) => withDatabase(json, context => log(context, partner, limit))),
    );
}

function resendCommand(withDatabase: WithDatabase): Command {
  return command('resend', 'resend an event, or all that failed permanently')
    .argument('[event]', 'such as evt_17')
    .option('--failed', 'all events that failed permanently, of all partners')
    .option('--since <time>', 'only those that failed since this time, such as 2026-11-15T10:00:00Z', instant)
    .action((event, { json, failed = false, since }, self: Command) => {
      if ((event === undefined) !== failed || (since && !failed))
        self.error('error: specify an event, or use --failed, optionally with --since');
      return withDatabase(json, context =>
        failed ? resendAll(context, since ?? new Date(0)) : resendOne(context, event),
      );
    });
}

const noWebhook = (partner: string) =>
  new RefusedError('no_webhook', `${partner} has no webhook: set one with kopeck webhook set.`);

type PartnerId = Webhook['partnerId'];

async function set(context: CommandContext, partner: string, text: string): Promise<Output> {
  const { audit, settings, keyring } = context;
  const { partnerId } = await findToChange(context, partner);
  const allowPrivate = settings.webhookAllowPrivate;
  const verdict = checkWebhookUrl(text, { allowPrivate });
  if (verdict.outcome === 'refused') throw new RefusedError('bad_address', verdict.reason);
  if (!allowPrivate && (await hasPrivateAddress(verdict.url.hostname, createNameLookup())))
    throw new RefusedError(
      'bad_address',
      'The host name resolves to a private IP address: use a public host.',
    );
  await setWebhook(audit, createVault(keyring), partnerId, verdict.url.href);
  return show(context, partnerId);
}

async function rotate(context: CommandContext, partner: string, force: boolean): Promise<Output> {
  const { audit, keyring } = context;
  const { partnerId } = await findToChange(context, partner);
  const outcome = await rotateSecret(audit, createVault(keyring), partnerId, { force });
  if (outcome === 'no_webhook') throw noWebhook(partnerId);
  if (outcome === 'overlap') {
    const advice = 'wait until it expires, or use --force to end it now';
    throw new RefusedError('overlap', `The previous secret is still valid: ${advice}.`);
  }
  return show(context, partnerId);
}

async function chooseEvents(context: CommandContext, partner: string, refunded: boolean): Promise<Output> {
  const { partnerId } = await findToChange(context, partner);
  const outcome = await setExtraEvents(context.audit, partnerId, refunded ? ['payment.refunded'] : []);
  if (outcome === 'no_webhook') throw noWebhook(partnerId);
  return show(context, partnerId);
}

async function show({ audit, keyring }: CommandContext, partnerId: PartnerId): Promise<Output> {
  const webhook = await findWebhook(audit.pool, partnerId);
  if (!webhook) throw noWebhook(partnerId);
  const nowMs = audit.clock.nowMs();
  const [secret = '', oldSecret] = await readSecrets(audit.pool, createVault(keyring), partnerId, nowMs);
  const old: [string, string][] = oldSecret
    ? [['old secret', `${oldSecret} (until ${formatInstant(webhook.oldSecretUntil)} UTC)`]]
    : [];
  return {
    json: { partner_id: partnerId, ...webhookObject(webhook), secret, old_secret: oldSecret ?? null },
    text: details([
      ['partner', partnerId],
      ['url', webhook.url],
      ['state', webhook.state],
      ['pending events', `${webhook.waiting}`],
      ['failed permanently', `${webhook.givenUp}`],
      ['extra events', webhook.extraEvents.join(', ') || 'none'],
      ['signing secret', secret],
      ...old,
    ]),
  };
}

async function check(context: CommandContext, partner: string): Promise<Output> {
  const { audit, settings, keyring, progress } = context;
  const { partnerId } = await findToChange(context, partner);
  const sender = createSender({ allowPrivate: settings.webhookAllowPrivate });
  const slow = setInterval(() => progress('Waiting for the endpoint …'), 2_000);
  const vault = createVault(keyring);
  const result = await checkPartner({ audit, sender, vault }, partnerId).finally(async () => {
    clearInterval(slow);
    await sender.close();
  });
  if (result.outcome !== 'checked') throw noWebhook(partnerId);
  const { check, reEnabled } = result;
  return describeCheck(partnerId, check, reEnabled);
}

function describeCheck(partnerId: PartnerId, check: WebhookCheck, reEnabled: boolean): Output {
  const { results, canReceive, passed, tls } = check;
  const expectation = { accept: 'accept', refuse: 'reject' };
  const conclusion = canReceive
    ? `The endpoint accepts valid events${passed ? ' and rejects all others' : ', but some checks failed'}.`
    : 'The endpoint does not accept valid events. Fix it and check again.';
  return {
    isBad: !canReceive,
    json: { partner_id: partnerId, ...checkObject(check, reEnabled) },
    text: [
      table(
        ['request', 'expected', 'response', 'ms', 'passed'],
        results.map(result => [
          result.name,
          expectation[result.expected],
          responseText(result),
          `${result.durationMs}`,
          result.passed ? 'yes' : 'NO',
        ]),
      ),
      '',
      tls
        ? `TLS: ${tls.protocol}, certificate valid until ${tls.validUntil}.`
        : 'TLS: not used (plain HTTP).',
      conclusion,
      ...(reEnabled ? ['Delivery was suspended and resumes now with the pending events.'] : []),
    ].join('\n'),
  };
}

async function resendOne({ audit }: CommandContext, text: string): Promise<Output> {
  const eventId = parseEventId(text);
  const result = eventId === undefined ? { outcome: 'no_event' as const } : await resendEvent(audit, eventId);
  switch (result.outcome) {
    case 'queued':
      return {
        json: { event_id: text, partner_id: result.partnerId, queued: true, suspended: result.suspended },
        text: result.suspended
          ? `${text} will be resent to ${result.partnerId} after a successful kopeck webhook check.`
          : `${text} is being resent to ${result.partnerId}.`,
      };
    case 'no_webhook':
      throw new RefusedError('no_webhook', `The partner of ${text} has no webhook: set one first.`);
    case 'no_event':
      throw new RefusedError('no_event', `There is no event ${text}: IDs look like evt_17.`);
  }
}

async function resendAll({ audit, progress }: CommandContext, since: Date): Promise<Output> {
  const startedAt = performance.now();
  const queued = await resendFailed(audit, since, (done, of) => {
    if (performance.now() - startedAt > 2_000) progress(bar(done, of));
  });
  const text = `Events to resend: ${queued}. Partners with suspended delivery need kopeck webhook check first.`;
  return { json: { queued }, text };
}

async function log(context: CommandContext, partner: string, limit: number): Promise<Output> {
  const { partnerId } = await find(context, partner);
  const attempts = await listAttempts(context.audit.pool, partnerId, limit);
  return {
    json: {
      attempts: attempts.map(attempt => ({
        event_id: formatEventId(attempt.eventId),
        attempt: attempt.attempt,
        at: attempt.at.toISOString(),
        status: attempt.status,
        error: attempt.error,
        duration_ms: attempt.durationMs,
      })),
    },
    text: table(
      ['event', 'attempt', 'at (UTC)', 'response', 'ms'],
      attempts.map(attempt => [
        formatEventId(attempt.eventId),
        `${attempt.attempt}`,
        formatInstant(attempt.at),
        responseText(attempt),
        `${attempt.durationMs}`,
      ]),
    ),
  };
}
