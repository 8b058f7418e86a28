import {
  checkPartner,
  formatEventId,
  listAttempts,
  listWebhooks,
  moveWebhook,
  parseEventId,
  readSecrets,
  resendEvent,
  rotateSecret,
  setWebhook,
  type Webhook,
} from '../../../webhooks/index.ts';
import { ask, callbackData, canStillAct, type PartnerContext, send, show } from '../chat-context.ts';
import type { Button } from '../screen.ts';
import { type SecretMessage, sendSecretMessage } from '../secret-message.ts';
import type { Menu, PartnerAction } from './menu.ts';
import {
  addButton,
  addFromTyped,
  askToRemove,
  beginToAdd,
  findByRef,
  kindButtons,
  readAddress,
  refOf,
  removeNow,
  showEndpoints,
  toggleKind,
} from './webhook-endpoints.ts';

const attemptsShown = 10;

/** The only endpoint, or the list of all. */
async function showWebhook(chat: PartnerContext): Promise<void> {
  const { texts, deps, partner } = chat;
  const endpoints = await listWebhooks(deps.pool, partner.partnerId);
  const [only] = endpoints;
  if (endpoints.length > 1) return showEndpoints(chat, endpoints);
  if (only) return showEndpoint(chat, only, 'h');
  const back = [{ text: texts.back, data: callbackData('h', partner) }];
  await show(chat, {
    text: texts.webhook.none,
    buttons: [[{ text: texts.webhook.set, data: callbackData('ws', partner) }], back],
  });
}

async function showEndpoint(chat: PartnerContext, webhook: Webhook, back: 'h' | 'w'): Promise<void> {
  const { texts, partner } = chat;
  const button = (text: string, action: string, ...args: string[]): Button => ({
    text,
    data: callbackData(action, partner, refOf(webhook), ...args),
  });
  const hasRefunds = webhook.events.includes('payment.refunded');
  await show(chat, {
    text: texts.webhook.state(webhook),
    buttons: [
      [button(texts.webhook.check, 'wc'), button(texts.webhook.log, 'wl')],
      [button(texts.webhook.secret, 'wk'), button(texts.webhook.rotate, 'wr')],
      ...(webhook.isFirst
        ? [[button(texts.webhook.refunds(hasRefunds), 'wf', 'payment.refunded')]]
        : kindButtons(chat, webhook)),
      [button(texts.webhook.set, 'ws'), button(texts.webhook.remove, 'wd')],
      ...(back === 'h' ? [[addButton(chat)]] : []),
      [{ text: texts.back, data: callbackData(back, partner) }],
    ],
  });
}

/** Shows the endpoint again after a change; the list if it is gone. */
async function showAgain(chat: PartnerContext, ref: string | undefined): Promise<void> {
  const endpoints = await listWebhooks(chat.deps.pool, chat.partner.partnerId);
  const found = endpoints.find(one => refOf(one) === ref);
  if (found) await showEndpoint(chat, found, endpoints.length > 1 ? 'w' : 'h');
  else await showWebhook(chat);
}

/** A button about an endpoint: it does nothing but show what there is, if the endpoint was removed. */
const onEndpoint = (
  run: (chat: PartnerContext, webhook: Webhook, ...args: string[]) => Promise<void>,
): PartnerAction => ({
  role: 'developer',
  run: async (chat, ref, ...args) => {
    const webhook = await findByRef(chat, ref);
    await (webhook ? run(chat, webhook, ...args) : showWebhook(chat));
  },
});

const askForAddress = (chat: PartnerContext, ref: string | undefined, text: string) =>
  ask(chat, {
    step: 'webhook_url',
    partnerId: chat.partner.partnerId,
    args: ref ? [ref] : [],
    text,
    back: callbackData('w', chat.partner),
  });

/** Without an endpoint it is the first one, which is not there yet. */
async function saveAddress(chat: PartnerContext, ref: string | undefined, typed: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const url = await readAddress(chat, typed);
  if (!url) return askForAddress(chat, ref, texts.webhook.badAddress);
  if (!(await canStillAct(chat, 'developer'))) return;
  const webhook = ref ? await findByRef(chat, ref) : undefined;
  if (ref && !webhook) return showWebhook(chat);
  if (webhook) await moveWebhook(chat.audit, webhook, url);
  else await setWebhook(chat.audit, deps.vault, partner.partnerId, url);
  await send(chat, { text: texts.webhook.saved, buttons: [] });
  await showAgain(chat, ref);
}

async function revealSecret(chat: PartnerContext, webhook: Webhook, message: SecretMessage): Promise<void> {
  const { deps, texts } = chat;
  const { partnerId, endpointId } = webhook;
  const secrets = await readSecrets(deps.pool, deps.vault, partnerId, deps.clock.nowMs(), endpointId);
  if (secrets.length > 0) await message.reveal(texts.webhook.secrets(secrets));
  else await message.discard();
}

async function showSecret(chat: PartnerContext, webhook: Webhook): Promise<void> {
  const message = await sendSecretMessage(chat);
  if (await canStillAct(chat, 'developer')) await revealSecret(chat, webhook, message);
  else await message.discard();
}

/** If the new secret cannot be shown now, the user can open it later. */
async function rotate(chat: PartnerContext, ref: string | undefined): Promise<void> {
  const { deps, partner, texts } = chat;
  const webhook = await findByRef(chat, ref);
  if (!webhook) return showWebhook(chat);
  const message = await sendSecretMessage(chat);
  if (!(await canStillAct(chat, 'developer'))) return message.discard();
  const { endpointId } = webhook;
  const outcome = await rotateSecret(chat.audit, deps.vault, partner.partnerId, { endpointId });
  if (outcome === 'rotated') await revealSecret(chat, webhook, message);
  else await message.discard();
  if (outcome === 'overlap') chat.toast = texts.webhook.overlap;
  await showAgain(chat, refOf(webhook));
}

/** A second press does not start a second check. */
const beingChecked = new Set<string>();

/** Sends five requests, so it can take five times the receiver's timeout. */
async function check(chat: PartnerContext, { endpointId }: Webhook): Promise<void> {
  chat.toast = chat.texts.webhook.checking;
  if (beingChecked.has(endpointId)) return;
  beingChecked.add(endpointId);
  chat.runInBackground(async () => {
    await checkNow(chat, endpointId).finally(() => beingChecked.delete(endpointId));
  });
}

async function checkNow(chat: PartnerContext, endpointId: Webhook['endpointId']): Promise<void> {
  const { deps, audit, partner, texts } = chat;
  const result = await checkPartner({ ...deps, audit }, partner.partnerId, {
    endpointId,
    mayStillAct: () => canStillAct(chat, 'developer'),
  });
  if (result.outcome !== 'checked') return;
  const { check, reEnabled } = result;
  await send(chat, {
    text: texts.webhook.checkResult(check, reEnabled),
    buttons: [[{ text: texts.webhook.button, data: callbackData('w', partner) }]],
  });
}

async function showLog(chat: PartnerContext, webhook: Webhook): Promise<void> {
  const { deps, partner, texts } = chat;
  const { endpointId } = webhook;
  const attempts = await listAttempts(deps.pool, partner.partnerId, attemptsShown, { endpointId });
  const events = [...new Set(attempts.map(({ eventId }) => formatEventId(eventId)))].slice(0, 5);
  await show(chat, {
    text: texts.webhook.attempts(attempts),
    buttons: [
      ...events.map(event => [
        { text: texts.webhook.resend(event), data: callbackData('we', partner, event, refOf(webhook)) },
      ]),
      [{ text: texts.back, data: callbackData('wv', partner, refOf(webhook)) }],
    ],
  });
}

async function resend(chat: PartnerContext, event: string, ref: string | undefined): Promise<void> {
  const { texts, audit, partner } = chat;
  const eventId = parseEventId(event);
  const webhook = await findByRef(chat, ref);
  const to = { ofPartner: partner.partnerId, endpointId: webhook?.endpointId };
  const result = eventId === undefined || !webhook ? undefined : await resendEvent(audit, eventId, to);
  if (result?.outcome !== 'queued') chat.toast = texts.webhook.noEvent;
  else chat.toast = result.suspended ? texts.webhook.queuedSuspended : texts.webhook.queued;
}

async function chooseKind(chat: PartnerContext, webhook: Webhook, kind = ''): Promise<void> {
  await toggleKind(chat, webhook, kind);
  await showAgain(chat, refOf(webhook));
}

async function remove(chat: PartnerContext, ref: string | undefined): Promise<void> {
  const webhook = await findByRef(chat, ref);
  if (webhook) await removeNow(chat, webhook);
  await showWebhook(chat);
}

async function add(chat: PartnerContext, mode: string | undefined, typed: string): Promise<void> {
  const ref = await addFromTyped(chat, mode, typed);
  if (ref) await showAgain(chat, ref);
}

const askToRotate = (chat: PartnerContext, webhook: Webhook) =>
  ask(chat, {
    step: 'webhook_rotate',
    partnerId: chat.partner.partnerId,
    args: [refOf(webhook)],
    text: chat.texts.webhook.askRotate,
    confirm: chat.texts.webhook.rotate,
    back: callbackData('wv', chat.partner, refOf(webhook)),
  });

export const webhook: Menu = {
  actions: {
    w: { role: 'developer', run: showWebhook },
    wv: { role: 'developer', run: showAgain },
    wa: { role: 'developer', run: beginToAdd },
    ws: {
      role: 'developer',
      run: (chat, ref) => askForAddress(chat, ref, chat.texts.webhook.askAddress),
    },
    wk: onEndpoint(showSecret),
    wc: onEndpoint(check),
    wl: onEndpoint(showLog),
    wf: onEndpoint(chooseKind),
    wd: onEndpoint(askToRemove),
    wr: onEndpoint(askToRotate),
    we: { role: 'developer', run: (chat, event = '', ref) => resend(chat, event, ref) },
  },
  steps: {
    webhook_url: { role: 'developer', answer: (chat, [ref], typed) => saveAddress(chat, ref, typed) },
    webhook_add: { role: 'developer', answer: (chat, [mode], typed) => add(chat, mode, typed) },
    webhook_rotate: { role: 'developer', confirm: (chat, [ref]) => rotate(chat, ref) },
    webhook_remove: { role: 'developer', confirm: (chat, [ref]) => remove(chat, ref) },
  },
};
