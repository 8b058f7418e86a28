import { isLabel } from '../../../base/label.ts';
import {
  acceptInvitation,
  listMemberships,
  maxMembers,
  roleIncludes,
  signUp,
} from '../../../partners/index.ts';
import { languages, textsByLanguage } from '../../texts/index.ts';
import { ask, type ChatContext, callbackData, type PartnerContext, send, show } from '../chat-context.ts';
import type { Button, Screen } from '../screen.ts';
import { setDialogue, setLanguage, setPartner } from '../users.ts';
import { createKeyAndShow } from './keys.ts';
import type { Menu, PersonalAction } from './menu.ts';

const languageScreen = (): Screen => ({
  text: Object.values(textsByLanguage)
    .map(texts => texts.chooseLanguage)
    .join('\n'),
  buttons: [languages.map(language => ({ text: textsByLanguage[language].name, data: `lang:${language}` }))],
});

/** Shows the menu of the user's current partner, or the welcome text to users without one. */
export async function goHome(chat: ChatContext): Promise<void> {
  await setDialogue(chat.deps.pool, chat.user.userId, null);
  const memberships = await listMemberships(chat.deps.pool, chat.user.userId);
  const current =
    memberships.find(({ partner }) => partner.partnerId === chat.user.partnerId) ?? memberships[0];
  if (current) return showPartner({ ...chat, ...current });
  await show(chat, {
    text: chat.texts.welcome,
    buttons: [
      [{ text: chat.texts.signUp.button, data: 'new' }],
      [{ text: chat.texts.settings.button, data: 'set' }],
    ],
  });
}

/** `/start`: with an invitation the user joins a team; a new user chooses a language. */
export async function start(chat: ChatContext, payload: string): Promise<void> {
  if (payload.startsWith(invitationPrefix)) return join(chat, payload.slice(invitationPrefix.length));
  if (chat.user.isNew) return void (await send(chat, languageScreen()));
  return goHome(chat);
}

export const invitationPrefix = 'inv_';

async function join(chat: ChatContext, token: string): Promise<void> {
  const acceptance = await acceptInvitation(chat.audit, token, chat.person);
  if (acceptance.outcome === 'no_invitation') {
    await send(chat, { text: chat.texts.team.noInvitation, buttons: [] });
    return goHome(chat);
  }
  const { partner, outcome } = acceptance;
  if (outcome === 'team_full') {
    await send(chat, { text: chat.texts.team.full(partner.name, maxMembers), buttons: [] });
    return goHome(chat);
  }
  await setPartner(chat.deps.pool, chat.user.userId, partner.partnerId);
  const text = outcome === 'joined' ? chat.texts.team.joined : chat.texts.team.alreadyMember;
  await send(chat, { text: text(partner.name), buttons: [] });
  await goHome({ ...chat, user: { ...chat.user, partnerId: partner.partnerId } });
}

async function showPartner(chat: PartnerContext): Promise<void> {
  const { texts, partner, role } = chat;
  const to = (text: string, action: string, ...args: string[]): Button => ({
    text,
    data: callbackData(action, partner, ...args),
  });
  const forDevelopers = roleIncludes(role, 'developer')
    ? [[to(texts.keys.button, 'k'), to(texts.webhook.button, 'w')]]
    : [];
  await show(chat, {
    text: texts.partner.home(partner, role),
    buttons: [
      ...forDevelopers,
      [to(texts.balance.button, 'b'), to(texts.payments.button, 'y', 'live')],
      [to(texts.rate.button, 'r'), to(texts.team.button, 't')],
      [{ text: texts.portal.button, data: 'portal' }],
      [
        { text: texts.partner.others, data: 'ps' },
        { text: texts.settings.button, data: 'set' },
      ],
    ],
  });
}

/** Telegram allows 100 buttons in a message. */
const maxShown = 50;

async function choosePartner(chat: ChatContext): Promise<void> {
  const memberships = await listMemberships(chat.deps.pool, chat.user.userId);
  await show(chat, {
    text: chat.texts.partner.choose,
    buttons: [
      ...memberships
        .slice(0, maxShown)
        .map(({ partner }) => [{ text: partner.name, data: callbackData('h', partner) }]),
      [{ text: chat.texts.signUp.button, data: 'new' }],
      [{ text: chat.texts.back, data: 'home' }],
    ],
  });
}

const askForName = (chat: ChatContext, text: string) => ask(chat, { step: signUpStep, text, back: 'home' });

export const signUpStep = 'sign_up';

/** Signs up the partner with the typed name and offers a test key. */
export async function answerSignUp(chat: ChatContext, typed: string): Promise<void> {
  const { texts, deps } = chat;
  const name = typed.trim();
  if (!isLabel(name)) return askForName(chat, texts.signUp.badName);
  const signed = await signUp(chat.audit, chat.person, name);
  if (signed.outcome !== 'signed_up') {
    const text = signed.outcome === 'too_many' ? texts.signUp.tooMany : texts.signUp.tooManyToday;
    await send(chat, { text, buttons: [] });
    return goHome(chat);
  }
  const { partner } = signed;
  await setPartner(deps.pool, chat.user.userId, partner.partnerId);
  await ask(chat, {
    step: 'first_key',
    partnerId: partner.partnerId,
    text: texts.signUp.done(partner.name),
    confirm: texts.signUp.firstKey,
    back: 'home',
  });
}

export const home: Menu = {
  actions: {
    h: {
      role: 'viewer',
      run: async chat => {
        await setPartner(chat.deps.pool, chat.user.userId, chat.partner.partnerId);
        await showPartner(chat);
      },
    },
  },
  steps: {
    first_key: {
      role: 'developer',
      confirm: async chat => {
        if (!(await createKeyAndShow(chat, 'test', []))) return;
        await send(chat, {
          text: chat.texts.signUp.firstPayment(chat.deps.publicUrl),
          buttons: [[{ text: chat.texts.menu, data: callbackData('h', chat.partner) }]],
        });
      },
    },
  },
};

export const personalActions: Record<string, PersonalAction> = {
  home: goHome,
  ps: choosePartner,
  new: chat => askForName(chat, chat.texts.signUp.askName),
  lang: async (chat, chosen) => {
    const language = languages.find(one => one === chosen);
    if (!language) return;
    await setLanguage(chat.deps.pool, chat.user.userId, language);
    await goHome({ ...chat, user: { ...chat.user, language }, texts: textsByLanguage[language] });
  },
  langs: chat => show(chat, languageScreen()),
  hide: async ({ api, chatId, pressedMessageId }) => {
    if (pressedMessageId !== undefined) await api.deleteMessage(chatId, pressedMessageId).catch(() => {});
  },
};
