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
  setWebhook,
} from '../../../webhooks/index.ts';
import { type SecretMessage, sendSecretMessage } from '../secret-message.ts';
import { ask, dataOf, mayStillAct, type PartnerVisit, send, show } from '../visit.ts';
import type { Menu } from './menu.ts';

const attemptsShown = 10;

async function showWebhook(visit: PartnerVisit): Promise<void> {
  const { say, deps, partner } = visit;
  const webhook = await findWebhook(deps.pool, partner.partnerId);
  const back = [{ text: say.back, data: dataOf('h', partner) }];
  const set = { text: say.webhook.set, data: dataOf('ws', partner) };
  if (!webhook) return show(visit, { text: say.webhook.none, buttons: [[set], back] });
  await show(visit, {
    text: say.webhook.state(webhook),
    buttons: [
      [
        { text: say.webhook.check, data: dataOf('wc', partner) },
        { text: say.webhook.log, data: dataOf('wl', partner) },
      ],
      [
        { text: say.webhook.secret, data: dataOf('wk', partner) },
        { text: say.webhook.rotate, data: dataOf('wr', partner) },
      ],
      [set],
      back,
    ],
  });
}

const askForAddress = (visit: PartnerVisit, text: string) =>
  ask(visit, {
    step: 'webhook_url',
    partnerId: visit.partner.partnerId,
    text,
    back: dataOf('w', visit.partner),
  });

async function saveAddress(visit: PartnerVisit, typed: string): Promise<void> {
  const { say, deps, partner } = visit;
  const allowPrivate = deps.webhookAllowPrivate;
  const verdict = checkWebhookUrl(typed.trim(), { allowPrivate });
  const isFine =
    verdict.outcome === 'ok' &&
    (allowPrivate || !(await hasPrivateAddress(verdict.url.hostname, createNameLookup())));
  if (!isFine) return askForAddress(visit, say.webhook.badAddress);
  if (!(await mayStillAct(visit, 'developer'))) return;
  await setWebhook(visit.audit, deps.vault, partner.partnerId, verdict.url.href);
  await send(visit, { text: say.webhook.saved, buttons: [] });
  await showWebhook(visit);
}

async function revealSecret(visit: PartnerVisit, message: SecretMessage): Promise<void> {
  const { deps, partner, say } = visit;
  const secrets = await readSecrets(deps.pool, deps.vault, partner.partnerId, deps.clock.nowMs());
  if (secrets.length > 0) await message.reveal(say.webhook.secrets(secrets));
  else await message.discard();
}

async function showSecret(visit: PartnerVisit): Promise<void> {
  const message = await sendSecretMessage(visit);
  if (await mayStillAct(visit, 'developer')) await revealSecret(visit, message);
  else await message.discard();
}

/** If the new one cannot be shown now, it can be later: it is kept. */
async function rotate(visit: PartnerVisit): Promise<void> {
  const { deps, partner, say } = visit;
  const message = await sendSecretMessage(visit);
  if (!(await mayStillAct(visit, 'developer'))) return message.discard();
  const outcome = await rotateSecret(visit.audit, deps.vault, partner.partnerId);
  if (outcome === 'rotated') await revealSecret(visit, message);
  else await message.discard();
  if (outcome === 'overlap') visit.toast = say.webhook.overlap;
  await showWebhook(visit);
}

/** Pressed again, a check that goes on is enough. */
const beingChecked = new Set<string>();

/** It may take as long as the receiver does, five times over. */
async function check(visit: PartnerVisit): Promise<void> {
  const { deps, partner, say } = visit;
  const webhook = await findWebhook(deps.pool, partner.partnerId);
  if (!webhook) return showWebhook(visit);
  visit.toast = say.webhook.checking;
  if (beingChecked.has(partner.partnerId)) return;
  beingChecked.add(partner.partnerId);
  visit.inBackground(async () => {
    await checkNow(visit).finally(() => beingChecked.delete(partner.partnerId));
  });
}

async function checkNow(visit: PartnerVisit): Promise<void> {
  const { deps, audit, partner, say } = visit;
  const result = await checkPartner({ ...deps, audit }, partner.partnerId, () =>
    mayStillAct(visit, 'developer'),
  );
  if (result.outcome !== 'checked') return;
  const { certificate, reEnabled } = result;
  await send(visit, {
    text: say.webhook.certificate(certificate, reEnabled),
    buttons: [[{ text: say.webhook.button, data: dataOf('w', partner) }]],
  });
}

async function showLog(visit: PartnerVisit): Promise<void> {
  const { deps, partner, say } = visit;
  const attempts = await listAttempts(deps.pool, partner.partnerId, attemptsShown);
  const events = [...new Set(attempts.map(({ eventId }) => formatEventId(eventId)))].slice(0, 5);
  await show(visit, {
    text: say.webhook.attempts(attempts),
    buttons: [
      ...events.map(event => [{ text: say.webhook.resend(event), data: dataOf('we', partner, event) }]),
      [{ text: say.back, data: dataOf('w', partner) }],
    ],
  });
}

async function resend(visit: PartnerVisit, event: string): Promise<void> {
  const { say, audit, partner } = visit;
  const eventId = parseEventId(event);
  const result = eventId === undefined ? undefined : await resendEvent(audit, eventId, partner.partnerId);
  if (result?.outcome !== 'queued') visit.toast = say.webhook.noEvent;
  else visit.toast = result.suspended ? say.webhook.queuedSuspended : say.webhook.queued;
}

export const webhook: Menu = {
  actions: {
    w: { role: 'developer', run: showWebhook },
    ws: { role: 'developer', run: visit => askForAddress(visit, visit.say.webhook.askAddress) },
    wk: { role: 'developer', run: showSecret },
    wc: { role: 'developer', run: check },
    wl: { role: 'developer', run: showLog },
    we: { role: 'developer', run: (visit, event = '') => resend(visit, event) },
    wr: {
      role: 'developer',
      run: visit =>
        ask(visit, {
          step: 'webhook_rotate',
          partnerId: visit.partner.partnerId,
          text: visit.say.webhook.askRotate,
          confirm: visit.say.webhook.rotate,
          back: dataOf('w', visit.partner),
        }),
    },
  },
  steps: {
    webhook_url: { role: 'developer', answer: (visit, _args, typed) => saveAddress(visit, typed) },
    webhook_rotate: { role: 'developer', confirm: rotate },
  },
};
