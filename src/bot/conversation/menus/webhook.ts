import * as webhooks from '../../../webhooks/index.ts';
import { ask, backTo, button, canStillAct, type PartnerContext, send, show } from '../chat-context.ts';
import { type SecretMessage, sendSecretMessage } from '../secret-message.ts';
import type { Menu, PartnerAction } from './menu.ts';

const attemptsShown = 10;

/** The end of the id names an endpoint in buttons, whose data are short. */
const refOf = ({ endpointId }: Pick<webhooks.Webhook, 'endpointId'>) => endpointId.slice(-8);

/** The endpoint of a button; without one, the first that the partner has: so were buttons made before there were several. */
async function findByRef(chat: PartnerContext, ref: string | undefined) {
  const endpoints = await webhooks.listWebhooks(chat.deps.pool, chat.partner.partnerId);
  return ref ? endpoints.find(one => refOf(one) === ref) : endpoints[0];
}

/** The only endpoint, or the list of all. */
async function showWebhook(chat: PartnerContext): Promise<void> {
  const texts = chat.texts.webhook;
  const endpoints = await webhooks.listWebhooks(chat.deps.pool, chat.partner.partnerId);
  const [only, ...others] = endpoints;
  if (only && others.length === 0) return showEndpoint(chat, only, 'h');
  if (!only) return show(chat, texts.none, [[button(chat, texts.set, 'ws')], backTo(chat, 'h')]);
  await show(chat, texts.endpoints(endpoints), [
    ...endpoints.map((one, index) => [button(chat, texts.open(index + 1, one), 'wv', refOf(one))]),
    [button(chat, texts.add, 'wa')],
    backTo(chat, 'h'),
  ]);
}

async function showEndpoint(chat: PartnerContext, webhook: webhooks.Webhook, back: 'h' | 'w'): Promise<void> {
  const texts = chat.texts.webhook;
  const to = (text: string, action: string, ...args: string[]) =>
    button(chat, text, action, refOf(webhook), ...args);
  const hasRefunds = webhook.events.includes('payment.refunded');
  await show(chat, texts.state(webhook), [
    [to(texts.check, 'wc'), to(texts.log, 'wl')],
    [to(texts.secret, 'wk'), to(texts.rotate, 'wr')],
    ...(webhook.isFirst
      ? [[to(texts.refunds(hasRefunds), 'wf', 'payment.refunded')]]
      : webhooks.eventKinds.map(kind => [to(texts.kind(kind, webhook.events.includes(kind)), 'wf', kind)])),
    [to(texts.set, 'ws'), to(texts.remove, 'wd')],
    ...(back === 'h' ? [[button(chat, texts.add, 'wa')]] : []),
    backTo(chat, back),
  ]);
}

/** Shows the endpoint again after a change; the list if it is gone. */
async function showAgain(chat: PartnerContext, ref?: string): Promise<void> {
  const endpoints = await webhooks.listWebhooks(chat.deps.pool, chat.partner.partnerId);
  const found = endpoints.find(one => refOf(one) === ref);
  if (found) await showEndpoint(chat, found, endpoints.length > 1 ? 'w' : 'h');
  else await showWebhook(chat);
}

/** A button about an endpoint: it does nothing but show what there is, if the endpoint was removed. */
const onEndpoint =
  (
    run: (chat: PartnerContext, webhook: webhooks.Webhook, ...args: string[]) => Promise<void>,
  ): PartnerAction =>
  async (chat, ref, ...args) => {
    const webhook = await findByRef(chat, ref);
    await (webhook ? run(chat, webhook, ...args) : showWebhook(chat));
  };

const askForAddress = (chat: PartnerContext, ref?: string, wrong?: string) => {
  const text = wrong ?? chat.texts.webhook.askAddress;
  return ask(chat, { step: 'webhook_url', args: ref ? [ref] : [], text, back: ['w'] });
};

/** Without an endpoint it is the first one, which is not there yet. */
async function saveAddress(chat: PartnerContext, typed: string, ref?: string): Promise<void> {
  const { deps, partner } = chat;
  const texts = chat.texts.webhook;
  const url = await webhooks.readWebhookAddress(typed, deps.webhookAllowPrivate);
  if (!url) return askForAddress(chat, ref, texts.badAddress);
  if (!(await canStillAct(chat, 'integrate'))) return;
  const webhook = ref ? await findByRef(chat, ref) : undefined;
  if (ref && !webhook) return showWebhook(chat);
  if (webhook) await webhooks.moveWebhook(chat.audit, webhook, url);
  else await webhooks.setWebhook(chat.audit, deps.vault, partner.partnerId, url);
  await send(chat, texts.saved);
  await showAgain(chat, ref);
}

async function beginToAdd(chat: PartnerContext, mode?: string, wrong?: string): Promise<void> {
  const texts = chat.texts.webhook;
  if (mode === 'live' || mode === 'test')
    return ask(chat, { step: 'webhook_add', args: [mode], text: wrong ?? texts.askAddress, back: ['w'] });
  await show(chat, texts.askMode, [
    [button(chat, texts.modes.live, 'wa', 'live'), button(chat, texts.modes.test, 'wa', 'test')],
    backTo(chat, 'w'),
  ]);
}

async function add(chat: PartnerContext, typed: string, asked?: string): Promise<void> {
  const { deps, partner, audit } = chat;
  const texts = chat.texts.webhook;
  const mode = asked === 'live' ? 'live' : 'test';
  const url = await webhooks.readWebhookAddress(typed, deps.webhookAllowPrivate);
  if (!url) return beginToAdd(chat, mode, texts.badAddress);
  if (!(await canStillAct(chat, 'integrate'))) return;
  const wanted = { mode, url, events: webhooks.contractEvents } as const;
  const added = await webhooks.addEndpoint(audit, deps.vault, partner.partnerId, wanted);
  await send(chat, added.outcome === 'added' ? texts.added : texts.tooMany);
  if (added.outcome === 'added') await showAgain(chat, refOf(added));
}

async function chooseKind(chat: PartnerContext, webhook: webhooks.Webhook, kind?: string): Promise<void> {
  const isKind = (one: webhooks.EventKind) => one === kind;
  const events = webhooks.eventKinds.filter(one => isKind(one) !== webhook.events.includes(one));
  const outcome = await webhooks.setEvents(chat.audit, webhook, events);
  if (outcome === 'no_events') chat.toast = chat.texts.webhook.lastKind;
  await showAgain(chat, refOf(webhook));
}

/** The button of a question about an endpoint carries it out. */
const askAbout = (
  chat: PartnerContext,
  webhook: webhooks.Webhook,
  step: string,
  text: string,
  confirm: string,
) => ask(chat, { step, args: [refOf(webhook)], text, confirm, back: ['wv', refOf(webhook)] });

const askToRotate = onEndpoint((chat, webhook) => {
  const { askRotate, rotate } = chat.texts.webhook;
  return askAbout(chat, webhook, 'webhook_rotate', askRotate, rotate);
});

const askToRemove = onEndpoint((chat, webhook) => {
  const { askRemove, remove } = chat.texts.webhook;
  return askAbout(chat, webhook, 'webhook_remove', askRemove(webhook), remove);
});

const remove = onEndpoint(async (chat, webhook) => {
  const outcome = await webhooks.removeEndpoint(chat.audit, webhook);
  if (outcome === 'removed') chat.toast = chat.texts.webhook.removed;
  await showWebhook(chat);
});

async function revealSecret(chat: PartnerContext, webhook: webhooks.Webhook, message: SecretMessage) {
  const { deps, texts } = chat;
  const { pool, vault, clock } = deps;
  const { partnerId, endpointId } = webhook;
  const secrets = await webhooks.readSecrets(pool, vault, partnerId, clock.nowMs(), endpointId);
  if (secrets.length > 0) await message.reveal(texts.webhook.secrets(secrets));
  else await message.discard();
}

const showSecret = onEndpoint(async (chat, webhook) => {
  const message = await sendSecretMessage(chat, 'integrate');
  if (message) await revealSecret(chat, webhook, message);
});

/** If the new secret cannot be shown now, the user can open it later. */
const rotate = onEndpoint(async (chat, webhook) => {
  const { deps, partner, texts } = chat;
  const message = await sendSecretMessage(chat, 'integrate');
  if (!message) return;
  const { endpointId } = webhook;
  const outcome = await webhooks.rotateSecret(chat.audit, deps.vault, partner.partnerId, { endpointId });
  if (outcome === 'rotated') await revealSecret(chat, webhook, message);
  else await message.discard();
  if (outcome === 'overlap') chat.toast = texts.webhook.overlap;
  await showAgain(chat, refOf(webhook));
});

/** A second press does not start a second check. */
const beingChecked = new Set<string>();

/** Sends five requests, so it can take five times the receiver's timeout. */
const check = onEndpoint(async (chat, { endpointId }) => {
  chat.toast = chat.texts.webhook.checking;
  if (beingChecked.has(endpointId)) return;
  beingChecked.add(endpointId);
  chat.runInBackground(async () => {
    await checkNow(chat, endpointId).finally(() => beingChecked.delete(endpointId));
  });
});

async function checkNow(chat: PartnerContext, endpointId: webhooks.Webhook['endpointId']): Promise<void> {
  const { deps, audit, partner, texts } = chat;
  const options = { endpointId, mayStillAct: () => canStillAct(chat, 'integrate') };
  const result = await webhooks.checkPartner({ ...deps, audit }, partner.partnerId, options);
  if (result.outcome !== 'checked') return;
  const text = texts.webhook.checkResult(result.check, result.reEnabled);
  await send(chat, text, [[button(chat, texts.webhook.button, 'w')]]);
}

const showLog = onEndpoint(async (chat, webhook) => {
  const { deps, partner } = chat;
  const texts = chat.texts.webhook;
  const { endpointId } = webhook;
  const attempts = await webhooks.listAttempts(deps.pool, partner.partnerId, attemptsShown, { endpointId });
  const events = [...new Set(attempts.map(({ eventId }) => webhooks.formatEventId(eventId)))].slice(0, 5);
  await show(chat, texts.attempts(attempts), [
    ...events.map(event => [button(chat, texts.resend(event), 'we', event, refOf(webhook))]),
    backTo(chat, 'wv', refOf(webhook)),
  ]);
});

async function resend(chat: PartnerContext, event = '', ref?: string): Promise<void> {
  const { texts, audit, partner } = chat;
  const eventId = webhooks.parseEventId(event);
  const webhook = await findByRef(chat, ref);
  const to = { ofPartner: partner.partnerId, endpointId: webhook?.endpointId };
  const result =
    eventId === undefined || !webhook ? undefined : await webhooks.resendEvent(audit, eventId, to);
  if (result?.outcome !== 'queued') chat.toast = texts.webhook.noEvent;
  else chat.toast = result.suspended ? texts.webhook.queuedSuspended : texts.webhook.queued;
}

export const webhook: Menu = {
  integrate: {
    actions: {
      w: showWebhook,
      wv: showAgain,
      wa: (chat, mode) => beginToAdd(chat, mode),
      ws: (chat, ref) => askForAddress(chat, ref),
      wk: showSecret,
      wc: check,
      wl: showLog,
      wf: onEndpoint(chooseKind),
      wd: askToRemove,
      wr: askToRotate,
      we: resend,
    },
    steps: {
      webhook_url: { answer: saveAddress },
      webhook_add: { answer: add },
      webhook_rotate: { confirm: rotate },
      webhook_remove: { confirm: remove },
    },
  },
};
