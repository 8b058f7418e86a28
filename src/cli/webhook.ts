import { Option } from 'commander';
import type { Id } from '../base/ids.ts';
import { programName } from '../base/program-name.ts';
import * as webhooks from '../webhooks/index.ts';
import { endpoint, positiveCount, taking } from './arguments.ts';
import { type Context, choice, type DatabaseCommand, either, group } from './command.ts';
import { details, formatInstant, listing, type Output, refuse } from './output.ts';
import { find, findToChange } from './partner.ts';
import { chooseEndpoint, modesOf, noWebhook, webhookObject } from './webhook-choice.ts';
import { checkWebhook, resendCommand, showLog } from './webhook-delivery.ts';

const eventKindList = taking(
  text => {
    const names = new Set(text.split(',').map(name => name.trim()));
    const kinds = webhooks.eventKinds.filter(kind => names.has(kind));
    return kinds.length > 0 && kinds.length === names.size ? kinds : undefined;
  },
  `one or more of ${webhooks.eventKinds.join(', ')}, separated by commas`,
);

/** The work on the endpoint that was asked for: the only one of the partner, unless another is named. */
const on =
  <Options>(
    run: (context: Context, webhook: webhooks.Webhook, options: Options) => Promise<Output>,
    findPartner = findToChange,
  ) =>
  async (context: Context, partner: string, options: Options & { endpoint?: Id<'whe'> }) => {
    const { partnerId } = await findPartner(context, partner);
    return run(context, await chooseEndpoint(context, partnerId, options.endpoint), options);
  };

export function webhookCommands(command: DatabaseCommand) {
  const ofEndpoint: DatabaseCommand = (name, description, work) =>
    command(`${name} <partner>`, description, work).option(
      '--endpoint <endpoint>',
      'which one; needed if the partner has several',
      endpoint,
    );
  const wantedUrl = ['--url <url>', 'https, public host, port 443 or above 1023'] as const;
  return group('webhook', "manage partners' webhooks", [
    ofEndpoint(
      'set',
      'set the URL of the endpoint; the first time also creates a signing secret',
      set,
    ).requiredOption(...wantedUrl),
    command('add <partner>', 'add an endpoint with its own signing secret; it gets events from now on', add)
      .requiredOption(...wantedUrl)
      .addOption(choice('--mode <mode>', 'whose events it gets', ['live', 'test']))
      .option(
        '--events <kinds>',
        'which events, separated by commas',
        eventKindList,
        webhooks.contractEvents,
      ),
    ofEndpoint('remove', 'remove an endpoint with the events that wait for it', on(remove)),
    command('list <partner>', 'list the endpoints of a partner', list),
    ofEndpoint('show', 'show URL, state and signing secret', on(show, find)),
    ofEndpoint(
      'check',
      'send five test requests to the endpoint; if it accepts a valid event, suspended delivery resumes',
      on(checkWebhook),
    ),
    ofEndpoint(
      'rotate',
      'create a new signing secret; the old one stays valid for 24 hours',
      on(rotate),
    ).option('--force', 'even if an older secret is still valid; it expires immediately'),
    ofEndpoint('events', 'choose which events the endpoint gets', on(chooseEvents))
      .addOption(
        new Option('--refunded <choice>', 'payment.refunded: money of a payment came back').choices(onOrOff),
      )
      .option('--only <kinds>', 'exactly these events, separated by commas', eventKindList)
      .hook('preAction', either('refunded', 'only', 'specify either --refunded or --only')),
    ofEndpoint(
      'ed25519',
      "whether requests are also signed with the partner's Ed25519 key",
      on(chooseEd25519),
    ).addOption(choice('--sign <choice>', 'on or off', onOrOff)),
    resendCommand(command),
    command('log <partner>', 'list the latest delivery attempts, newest first', showLog)
      .option('--endpoint <endpoint>', 'only those of this endpoint', endpoint)
      .option('--limit <count>', 'number of attempts', positiveCount, 50),
  ]);
}

const onOrOff = ['on', 'off'];

async function checkUrl({ settings }: Context, text: string): Promise<string> {
  const allowPrivate = settings.webhookAllowPrivate;
  const verdict = webhooks.checkWebhookUrl(text, { allowPrivate });
  if (verdict.outcome === 'refused') refuse('bad_address', verdict.reason);
  if (!allowPrivate && (await webhooks.hasPrivateAddress(verdict.url.hostname, webhooks.createNameLookup())))
    refuse('bad_address', 'The host name resolves to a private IP address: use a public host.');
  return verdict.url.href;
}

/** Without an endpoint it is the first, which may not be there yet. */
async function set(
  context: Context,
  partner: string,
  { url: text, endpoint: endpointId }: { url: string; endpoint?: Id<'whe'> },
) {
  const { audit, keyring } = context;
  const { partnerId } = await findToChange(context, partner);
  const url = await checkUrl(context, text);
  if (endpointId) {
    const webhook = await chooseEndpoint(context, partnerId, endpointId);
    await webhooks.moveWebhook(audit, webhook, url);
    return showAgain(context, webhook);
  }
  await webhooks.setWebhook(audit, webhooks.createVault(keyring), partnerId, url);
  return showAgain(context, { partnerId, endpointId: webhooks.firstEndpointOf(partnerId) });
}

async function add(
  context: Context,
  partner: string,
  { mode, url, events }: { mode: 'live' | 'test'; url: string; events: webhooks.EventKind[] },
) {
  const { audit, keyring } = context;
  const { partnerId } = await findToChange(context, partner);
  const wanted = { mode, url: await checkUrl(context, url), events };
  const added = await webhooks.addEndpoint(audit, webhooks.createVault(keyring), partnerId, wanted);
  if (added.outcome === 'too_many')
    refuse(
      'too_many_endpoints',
      `${partnerId} has ${webhooks.maxEndpoints} endpoints in ${mode} mode, counting the first: remove one with ${programName} webhook remove.`,
    );
  return showAgain(context, { partnerId, endpointId: added.endpointId });
}

async function remove({ audit }: Context, webhook: webhooks.Webhook) {
  const { partnerId, endpointId, url } = webhook;
  if ((await webhooks.removeEndpoint(audit, webhook)) === 'no_webhook') throw noWebhook(partnerId);
  return {
    json: { partner_id: partnerId, endpoint_id: endpointId, removed: true },
    text: `Removed ${endpointId} (${url}). Events that waited for it are not sent.`,
  };
}

async function list(context: Context, partner: string) {
  const { partnerId } = await find(context, partner);
  const endpoints = (await webhooks.listWebhooks(context.audit.pool, partnerId)).map(webhookObject);
  return listing({ partner_id: partnerId, endpoints }, 'endpoints', {
    endpoint: 'endpoint_id',
    mode: modesOf,
    state: 'state',
    pending: 'waiting',
    failed: 'given_up',
    events: ({ events }) => events.map(kind => kind.replace('payment.', '')).join(', '),
    url: 'url',
  });
}

async function rotate(context: Context, webhook: webhooks.Webhook, { force = false }: { force?: boolean }) {
  const { audit, keyring } = context;
  const { partnerId, endpointId } = webhook;
  const outcome = await webhooks.rotateSecret(audit, webhooks.createVault(keyring), partnerId, {
    force,
    endpointId,
  });
  if (outcome === 'no_webhook') throw noWebhook(partnerId);
  const advice = 'wait until it expires, or use --force to end it now';
  if (outcome === 'overlap') refuse('overlap', `The previous secret is still valid: ${advice}.`);
  return showAgain(context, webhook);
}

interface EventsOptions {
  refunded?: 'on' | 'off';
  only?: webhooks.EventKind[];
}

function eventsOf({ events }: webhooks.Webhook, { refunded, only }: EventsOptions) {
  const others = events.filter(kind => kind !== 'payment.refunded');
  return only ?? (refunded === 'on' ? [...others, 'payment.refunded'] : others);
}

async function chooseEvents(context: Context, webhook: webhooks.Webhook, options: EventsOptions) {
  const outcome = await webhooks.setEvents(context.audit, webhook, eventsOf(webhook, options));
  if (outcome === 'no_webhook') throw noWebhook(webhook.partnerId);
  if (outcome === 'no_events') refuse(outcome, 'The endpoint would get no events: remove it instead.');
  if (outcome === 'contract_events')
    refuse(
      outcome,
      `The first endpoint always gets ${webhooks.contractEvents.join(' and ')}: add another one for fewer.`,
    );
  return showAgain(context, webhook);
}

async function chooseEd25519(context: Context, webhook: webhooks.Webhook, { sign }: { sign: 'on' | 'off' }) {
  const { audit, keyring } = context;
  if ((await webhooks.setEd25519(audit, keyring, webhook, sign === 'on')) === 'no_webhook')
    throw noWebhook(webhook.partnerId);
  return showAgain(context, webhook);
}

async function showAgain(
  context: Context,
  { partnerId, endpointId }: Pick<webhooks.Webhook, 'partnerId' | 'endpointId'>,
) {
  const webhook = await webhooks.findWebhook(context.audit.pool, partnerId, endpointId);
  if (!webhook) throw noWebhook(partnerId);
  return show(context, webhook);
}

async function show({ audit, keyring }: Context, webhook: webhooks.Webhook) {
  const { partnerId, endpointId } = webhook;
  const nowMs = audit.clock.nowMs();
  const vault = webhooks.createVault(keyring);
  const secrets = await webhooks.readSecrets(audit.pool, vault, partnerId, nowMs, endpointId);
  const [secret = '', oldSecret] = secrets;
  const standard = webhooks.standardSecret(secret);
  return {
    json: {
      partner_id: partnerId,
      ...webhookObject(webhook),
      secret,
      old_secret: oldSecret ?? null,
      standard_secret: standard,
    },
    text: details({
      partner: partnerId,
      endpoint: endpointId,
      url: webhook.url,
      mode: modesOf(webhook),
      state: webhook.state,
      'pending events': webhook.waiting,
      'failed permanently': webhook.givenUp,
      events: webhook.events.join(', '),
      'Ed25519 signature': webhook.ed25519 ? 'on' : 'off',
      'public keys': webhooks.keySetPathsOf(webhook),
      'signing secret': secret,
      'old secret': oldSecret && `${oldSecret} (until ${formatInstant(webhook.oldSecretUntil)} UTC)`,
      'for Standard Webhooks': standard === secret ? null : standard,
    }),
  };
}
