import {
  checkPartner,
  checkWebhookUrl,
  createNameLookup,
  findWebhook,
  formatEventId,
  hasPrivateAddress,
  listAttempts,
  parseEventId,
  readSecrets,
  resendEvent,
  rotateSecret,
  setExtraEvents,
  setWebhook,
} from '../../../webhooks/index.ts';
import { ask, callbackData, canStillAct, type PartnerContext, send, show } from '../chat-context.ts';
import { type SecretMessage, sendSecretMessage } from '../secret-message.ts';
import type { Menu } from './menu.ts';

const attemptsShown = 10;

async function showWebhook(chat: PartnerContext): Promise<void> {
  const { texts, deps, partner } = chat;
  const webhook = await findWebhook(deps.pool, partner.partnerId);
  const back = [{ text: texts.back, data: callbackData('h', partner) }];
  const set = { text: texts.webhook.set, data: callbackData('ws', partner) };
  if (!webhook) return show(chat, { text: texts.webhook.none, buttons: [[set], back] });
  await show(chat, {
    text: texts.webhook.state(webhook),
    buttons: [
      [
        { text: texts.webhook.check, data: callbackData('wc', partner) },
        { text: texts.webhook.log, data: callbackData('wl', partner) },
      ],
      [
        { text: texts.webhook.secret, data: callbackData('wk', partner) },
        { text: texts.webhook.rotate, data: callbackData('wr', partner) },
      ],
      [
        {
          text: texts.webhook.refunds(webhook.extraEvents.length > 0),
          data: callbackData('wx', partner, webhook.extraEvents.length > 0 ? 'off' : 'on'),
        },
      ],
      [set],
      back,
    ],
  });
}

const askForAddress = (chat: PartnerContext, text: string) =>
  ask(chat, {
    step: 'webhook_url',
    partnerId: chat.partner.partnerId,
    text,
    back: callbackData('w', chat.partner),
  });

async function saveAddress(chat: PartnerContext, typed: string): Promise<void> {
  const { texts, deps, partner } = chat;
  const allowPrivate = deps.webhookAllowPrivate;
  const verdict = checkWebhookUrl(typed.trim(), { allowPrivate });
  const isFine =
    verdict.outcome === 'ok' &&
    (allowPrivate || !(await hasPrivateAddress(verdict.url.hostname, createNameLookup())));
  if (!isFine) return askForAddress(chat, texts.webhook.badAddress);
  if (!(await canStillAct(chat, 'developer'))) return;
  await setWebhook(chat.audit, deps.vault, partner.partnerId, verdict.url.href);
  await send(chat, { text: texts.webhook.saved, buttons: [] });
  await showWebhook(chat);
}

async function chooseRefunds(chat: PartnerContext, choice: string): Promise<void> {
  const events = choice === 'on' ? (['payment.refunded'] as const) : [];
  await setExtraEvents(chat.audit, chat.partner.partnerId, [...events]);
  await showWebhook(chat);
}

async function revealSecret(chat: PartnerContext, message: SecretMessage): Promise<void> {
  const { deps, partner, texts } = chat;
  const secrets = await readSecrets(deps.pool, deps.vault, partner.partnerId, deps.clock.nowMs());
  if (secrets.length > 0) await message.reveal(texts.webhook.secrets(secrets));
  else await message.discard();
}

async function showSecret(chat: PartnerContext): Promise<void> {
  const message = await sendSecretMessage(chat);
  if (await canStillAct(chat, 'developer')) await revealSecret(chat, message);
  else await message.discard();
}

/** If the new secret cannot be shown now, the user can open it later. */
async function rotate(chat: PartnerContext): Promise<void> {
  const { deps, partner, texts } = chat;
  const message = await sendSecretMessage(chat);
  if (!(await canStillAct(chat, 'developer'))) return message.discard();
  const outcome = await rotateSecret(chat.audit, deps.vault, partner.partnerId);
  if (outcome === 'rotated') await revealSecret(chat, message);
  else await message.discard();
  if (outcome === 'overlap') chat.toast = texts.webhook.overlap;
  await showWebhook(chat);
}

/** A second press does not start a second check. */
const beingChecked = new Set<string>();

/** Sends five requests, so it can take five times the receiver's timeout. */
async function check(chat: PartnerContext): Promise<void> {
  const { deps, partner, texts } = chat;
  const webhook = await findWebhook(deps.pool, partner.partnerId);
  if (!webhook) return showWebhook(chat);
  chat.toast = texts.webhook.checking;
  if (beingChecked.has(partner.partnerId)) return;
  beingChecked.add(partner.partnerId);
  chat.runInBackground(async () => {
    await checkNow(chat).finally(() => beingChecked.delete(partner.partnerId));
  });
}

async function checkNow(chat: PartnerContext): Promise<void> {
  const { deps, audit, partner, texts } = chat;
  const result = await checkPartner({ ...deps, audit }, partner.partnerId, () =>
    canStillAct(chat, 'developer'),
  );
  if (result.outcome !== 'checked') return;
  const { check, reEnabled } = result;
  await send(chat, {
    text: texts.webhook.checkResult(check, reEnabled),
    buttons: [[{ text: texts.webhook.button, data: callbackData('w', partner) }]],
  });
}

async function showLog(chat: PartnerContext): Promise<void> {
  const { deps, partner, texts } = chat;
  const attempts = await listAttempts(deps.pool, partner.partnerId, attemptsShown);
  const events = [...new Set(attempts.map(({ eventId }) => formatEventId(eventId)))].slice(0, 5);
  await show(chat, {
    text: texts.webhook.attempts(attempts),
    buttons: [
      ...events.map(event => [
        { text: texts.webhook.resend(event), data: callbackData('we', partner, event) },
      ]),
      [{ text: texts.back, data: callbackData('w', partner) }],
    ],
  });
}

async function resend(chat: PartnerContext, event: string): Promise<void> {
  const { texts, audit, partner } = chat;
  const eventId = parseEventId(event);
  const result = eventId === undefined ? undefined : await resendEvent(audit, eventId, partner.partnerId);
  if (result?.outcome !== 'queued') chat.toast = texts.webhook.noEvent;
  else chat.toast = result.suspended ? texts.webhook.queuedSuspended : texts.webhook.queued;
}

export const webhook: Menu = {
  actions: {
    w: { role: 'developer', run: showWebhook },
    ws: { role: 'developer', run: chat => askForAddress(chat, chat.texts.webhook.askAddress) },
    wk: { role: 'developer', run: showSecret },
    wc: { role: 'developer', run: check },
    wl: { role: 'developer', run: showLog },
    wx: { role: 'developer', run: (chat, choice = '') => chooseRefunds(chat, choice) },
    we: { role: 'developer', run: (chat, event = '') => resend(chat, event) },
    wr: {
      role: 'developer',
      run: chat =>
        ask(chat, {
          step: 'webhook_rotate',
          partnerId: chat.partner.partnerId,
          text: chat.texts.webhook.askRotate,
          confirm: chat.texts.webhook.rotate,
          back: callbackData('w', chat.partner),
        }),
    },
  },
  steps: {
    webhook_url: { role: 'developer', answer: (chat, _args, typed) => saveAddress(chat, typed) },
    webhook_rotate: { role: 'developer', confirm: rotate },
  },
};
