import {
  addEndpoint,
  contractEvents,
  type EventKind,
  eventKinds,
  listWebhooks,
  readWebhookAddress,
  removeEndpoint,
  setEvents,
  type Webhook,
} from '../../../webhooks/index.ts';
import { ask, callbackData, canStillAct, type PartnerContext, send, show } from '../chat-context.ts';
import type { Button } from '../screen.ts';

/** The end of the id names an endpoint in buttons, whose data are short. */
export const refOf = ({ endpointId }: Pick<Webhook, 'endpointId'>) => endpointId.slice(-8);

/** The endpoint of a button; without one, the first that the partner has: so were buttons made before there were several. */
export async function findByRef(chat: PartnerContext, ref: string | undefined): Promise<Webhook | undefined> {
  const endpoints = await listWebhooks(chat.deps.pool, chat.partner.partnerId);
  return ref ? endpoints.find(one => refOf(one) === ref) : endpoints[0];
}

/** What the user typed, if it may be used. */
export const readAddress = ({ deps }: PartnerContext, typed: string) =>
  readWebhookAddress(typed, deps.webhookAllowPrivate);

export const addButton = ({ texts, partner }: PartnerContext): Button => ({
  text: texts.webhook.add,
  data: callbackData('wa', partner),
});

export async function showEndpoints(chat: PartnerContext, endpoints: Webhook[]): Promise<void> {
  const { texts, partner } = chat;
  await show(chat, {
    text: texts.webhook.endpoints(endpoints),
    buttons: [
      ...endpoints.map((one, index) => [
        { text: texts.webhook.open(index + 1, one), data: callbackData('wv', partner, refOf(one)) },
      ]),
      [addButton(chat)],
      [{ text: texts.back, data: callbackData('h', partner) }],
    ],
  });
}

/** For an endpoint beside the first: one button for each kind of event. */
export const kindButtons = ({ texts, partner }: PartnerContext, webhook: Webhook): Button[][] =>
  eventKinds.map(kind => [
    {
      text: texts.webhook.kind(kind, webhook.events.includes(kind)),
      data: callbackData('wf', partner, refOf(webhook), kind),
    },
  ]);

export async function toggleKind(chat: PartnerContext, webhook: Webhook, kind: string): Promise<void> {
  const isKind = (one: EventKind) => one === kind;
  const events = eventKinds.filter(one => isKind(one) !== webhook.events.includes(one));
  const outcome = await setEvents(chat.audit, webhook, events);
  if (outcome === 'no_events') chat.toast = chat.texts.webhook.lastKind;
}

export async function askMode(chat: PartnerContext): Promise<void> {
  const { texts, partner } = chat;
  await show(chat, {
    text: texts.webhook.askMode,
    buttons: [
      (['live', 'test'] as const).map(mode => ({
        text: texts.webhook.modes[mode],
        data: callbackData('wa', partner, mode),
      })),
      [{ text: texts.back, data: callbackData('w', partner) }],
    ],
  });
}

const askForNewAddress = (chat: PartnerContext, mode: string, text: string) =>
  ask(chat, {
    step: 'webhook_add',
    partnerId: chat.partner.partnerId,
    args: [mode],
    text,
    back: callbackData('w', chat.partner),
  });

export const beginToAdd = (chat: PartnerContext, mode?: string): Promise<void> =>
  mode === 'live' || mode === 'test'
    ? askForNewAddress(chat, mode, chat.texts.webhook.askAddress)
    : askMode(chat);

/** Returns the new endpoint; undefined if there is none, and the user has been answered. */
export async function addFromTyped(
  chat: PartnerContext,
  mode: string | undefined,
  typed: string,
): Promise<string | undefined> {
  const { texts, deps, partner, audit } = chat;
  const url = await readAddress(chat, typed);
  if (!url) {
    await askForNewAddress(chat, `${mode}`, texts.webhook.badAddress);
    return undefined;
  }
  if (!(await canStillAct(chat, 'developer'))) return undefined;
  const added = await addEndpoint(audit, deps.vault, partner.partnerId, {
    mode: mode === 'live' ? 'live' : 'test',
    url,
    events: contractEvents,
  });
  const text = added.outcome === 'added' ? texts.webhook.added : texts.webhook.tooMany;
  await send(chat, { text, buttons: [] });
  return added.outcome === 'added' ? refOf(added) : undefined;
}

export const askToRemove = (chat: PartnerContext, webhook: Webhook) =>
  ask(chat, {
    step: 'webhook_remove',
    partnerId: chat.partner.partnerId,
    args: [refOf(webhook)],
    text: chat.texts.webhook.askRemove(webhook),
    confirm: chat.texts.webhook.remove,
    back: callbackData('wv', chat.partner, refOf(webhook)),
  });

export async function removeNow(chat: PartnerContext, webhook: Webhook): Promise<void> {
  const outcome = await removeEndpoint(chat.audit, webhook);
  if (outcome === 'removed') chat.toast = chat.texts.webhook.removed;
}
