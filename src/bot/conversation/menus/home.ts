import { isLabel } from '../../../base/label.ts';
import * as partners from '../../../partners/index.ts';
import { languages, textsByLanguage } from '../../texts/index.ts';
import {
  askPerson,
  button,
  type ChatContext,
  callbackData,
  type PartnerContext,
  send,
  show,
  supportRow,
} from '../chat-context.ts';
import type { Button } from '../screen.ts';
import { setDialogue, setLanguage, setPartner } from '../users.ts';
import { createKeyAndShow } from './keys.ts';
import type { Menu, PersonalAction } from './menu.ts';

const languageText = Object.values(textsByLanguage)
  .map(texts => texts.chooseLanguage)
  .join('\n');
const languageButtons: Button[][] = [
  languages.map(language => ({ text: textsByLanguage[language].name, data: `lang:${language}` })),
];

/** The membership that the user chose last, or the first. */
export async function findCurrent({ deps, user }: ChatContext) {
  const memberships = await partners.listMemberships(deps.pool, user.userId);
  return memberships.find(({ partner }) => partner.partnerId === user.partnerId) ?? memberships[0];
}

/** Shows the menu of the user's current partner, or the welcome text to users without one. */
export async function goHome(chat: ChatContext): Promise<void> {
  const { deps, user, texts } = chat;
  await setDialogue(deps.pool, user.userId, null);
  const current = await findCurrent(chat);
  if (current) return showPartner({ ...chat, ...current });
  await show(chat, texts.welcome, [
    [{ text: texts.signUp.button, data: 'new' }],
    [{ text: texts.settings.button, data: 'set' }],
  ]);
}

/** `/start`: with an invitation the user joins a team; a new user chooses a language. */
export async function start(chat: ChatContext, payload: string): Promise<void> {
  if (payload.startsWith(invitationPrefix)) return join(chat, payload.slice(invitationPrefix.length));
  if (chat.user.isNew) return void (await send(chat, languageText, languageButtons));
  return goHome(chat);
}

export const invitationPrefix = 'inv_';

async function join(chat: ChatContext, token: string): Promise<void> {
  const { deps, user } = chat;
  const { team } = chat.texts;
  const acceptance = await partners.acceptInvitation(chat.audit, token, chat.person);
  if (acceptance.outcome === 'no_invitation') return sendAndGoHome(chat, team.noInvitation);
  const { partner, outcome } = acceptance;
  if (outcome === 'team_full') return sendAndGoHome(chat, team.full(partner.name, partners.maxMembers));
  await setPartner(deps.pool, user.userId, partner.partnerId);
  const welcome = outcome === 'joined' ? team.joined(partner.name) : team.alreadyMember(partner.name);
  await sendAndGoHome({ ...chat, user: { ...user, partnerId: partner.partnerId } }, welcome);
}

async function sendAndGoHome(chat: ChatContext, text: string): Promise<void> {
  await send(chat, text);
  await goHome(chat);
}

async function showPartner(chat: PartnerContext): Promise<void> {
  const { texts, deps, partner, role } = chat;
  const forDevelopers = [button(chat, texts.keys.button, 'k'), button(chat, texts.webhook.button, 'w')];
  await show(chat, texts.partner.home(partner, role, deps.supportUrl), [
    ...(partner.suspended ? supportRow(deps, texts) : []),
    ...(partners.hasRight(role, 'integrate') ? [forDevelopers] : []),
    [button(chat, texts.balance.button, 'b'), button(chat, texts.payments.button, 'y', 'live')],
    [button(chat, texts.rate.button, 'r'), button(chat, texts.team.button, 't')],
    [{ text: texts.portal.button, data: 'portal' }],
    [
      { text: texts.partner.others, data: 'ps' },
      { text: texts.settings.button, data: 'set' },
    ],
  ]);
}

/** Telegram allows 100 buttons in a message. */
const maxShown = 50;

async function choosePartner(chat: ChatContext): Promise<void> {
  const { deps, user, texts } = chat;
  const memberships = (await partners.listMemberships(deps.pool, user.userId)).slice(0, maxShown);
  await show(chat, texts.partner.choose, [
    ...memberships.map(({ partner }) => [{ text: partner.name, data: callbackData('h', partner) }]),
    [{ text: texts.signUp.button, data: 'new' }],
    [{ text: texts.back, data: 'home' }],
  ]);
}

export const signUpStep = 'sign_up';

const askForName = (chat: ChatContext, text: string) =>
  askPerson(chat, { step: signUpStep, text, cancel: 'home' });

/** Signs up the partner with the typed name and offers a test key. */
export async function answerSignUp(chat: ChatContext, typed: string): Promise<void> {
  const { texts, deps } = chat;
  const name = typed.trim();
  if (!isLabel(name)) return askForName(chat, texts.signUp.badName);
  const signed = await partners.signUp(chat.audit, chat.person, name);
  const { tooMany, tooManyToday } = texts.signUp;
  if (signed.outcome !== 'signed_up')
    return sendAndGoHome(chat, signed.outcome === 'too_many' ? tooMany : tooManyToday);
  const { partnerId } = signed.partner;
  await setPartner(deps.pool, chat.user.userId, partnerId);
  const { done, firstKey } = texts.signUp;
  const shown = { text: done(signed.partner.name), confirm: firstKey };
  await askPerson(chat, { step: 'first_key', partnerId, ...shown, cancel: 'home' });
}

async function createFirstKey(chat: PartnerContext): Promise<void> {
  const { texts, deps } = chat;
  if (!(await createKeyAndShow(chat, 'test', []))) return;
  await send(chat, texts.signUp.firstPayment(deps.publicUrl), [[button(chat, texts.menu, 'h')]]);
}

async function switchTo(chat: PartnerContext): Promise<void> {
  await setPartner(chat.deps.pool, chat.user.userId, chat.partner.partnerId);
  await showPartner(chat);
}

export const home: Menu = {
  money: { actions: { h: switchTo } },
  integrate: { steps: { first_key: { confirm: createFirstKey } } },
};

export const homeActions: Record<string, PersonalAction> = {
  home: goHome,
  ps: choosePartner,
  new: chat => askForName(chat, chat.texts.signUp.askName),
  lang: async (chat, chosen) => {
    const language = languages.find(one => one === chosen);
    if (!language) return;
    await setLanguage(chat.deps.pool, chat.user.userId, language);
    await goHome({ ...chat, user: { ...chat.user, language }, texts: textsByLanguage[language] });
  },
  langs: chat => show(chat, languageText, languageButtons),
  hide: async ({ api, chatId, pressedMessageId }) => {
    if (pressedMessageId !== undefined) await api.deleteMessage(chatId, pressedMessageId).catch(() => {});
  },
};
