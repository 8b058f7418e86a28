import { isLabel } from '../../../base/label.ts';
import {
  acceptInvitation,
  listMemberships,
  maxMembers,
  roleIncludes,
  signUp,
} from '../../../partners/index.ts';
import { languages, texts } from '../../texts/index.ts';
import type { Button, Screen } from '../screen.ts';
import { setDialogue, setLanguage, setPartner } from '../users.ts';
import { ask, dataOf, type PartnerVisit, send, show, type Visit } from '../visit.ts';
import { createKeyAndShow } from './keys.ts';
import type { Menu, PersonalAction } from './menu.ts';

const languageScreen = (): Screen => ({
  text: Object.values(texts)
    .map(say => say.chooseLanguage)
    .join('\n'),
  buttons: [languages.map(language => ({ text: texts[language].name, data: `lang:${language}` }))],
});

/** The first thing somebody sees, or the menu of the partner they were last with. */
export async function goHome(visit: Visit): Promise<void> {
  await setDialogue(visit.deps.pool, visit.user.userId, null);
  const memberships = await listMemberships(visit.deps.pool, visit.user.userId);
  const current =
    memberships.find(({ partner }) => partner.partnerId === visit.user.partnerId) ?? memberships[0];
  if (current) return showPartner({ ...visit, ...current });
  await show(visit, {
    text: visit.say.welcome,
    buttons: [
      [{ text: visit.say.signUp.button, data: 'new' }],
      [{ text: visit.say.settings.button, data: 'set' }],
    ],
  });
}

/** `/start`: a newcomer chooses a language first; whoever comes with an invitation joins. */
export async function start(visit: Visit, payload: string): Promise<void> {
  if (payload.startsWith(invitationPrefix)) return join(visit, payload.slice(invitationPrefix.length));
  if (visit.user.isNew) return void (await send(visit, languageScreen()));
  return goHome(visit);
}

export const invitationPrefix = 'inv_';

async function join(visit: Visit, token: string): Promise<void> {
  const acceptance = await acceptInvitation(visit.audit, token, visit.person);
  if (acceptance.outcome === 'no_invitation') {
    await send(visit, { text: visit.say.team.noInvitation, buttons: [] });
    return goHome(visit);
  }
  const { partner, outcome } = acceptance;
  if (outcome === 'team_full') {
    await send(visit, { text: visit.say.team.full(partner.name, maxMembers), buttons: [] });
    return goHome(visit);
  }
  await setPartner(visit.deps.pool, visit.user.userId, partner.partnerId);
  const text = outcome === 'joined' ? visit.say.team.joined : visit.say.team.alreadyMember;
  await send(visit, { text: text(partner.name), buttons: [] });
  await goHome({ ...visit, user: { ...visit.user, partnerId: partner.partnerId } });
}

async function showPartner(visit: PartnerVisit): Promise<void> {
  const { say, partner, role } = visit;
  const to = (text: string, action: string, ...args: string[]): Button => ({
    text,
    data: dataOf(action, partner, ...args),
  });
  const forDevelopers = roleIncludes(role, 'developer')
    ? [[to(say.keys.button, 'k'), to(say.webhook.button, 'w')]]
    : [];
  await show(visit, {
    text: say.partner.home(partner, role),
    buttons: [
      ...forDevelopers,
      [to(say.balance.button, 'b'), to(say.payments.button, 'y', 'live')],
      [to(say.rate.button, 'r'), to(say.team.button, 't')],
      [
        { text: say.partner.others, data: 'ps' },
        { text: say.settings.button, data: 'set' },
      ],
    ],
  });
}

/** As many as a message has room for buttons. */
const mostShown = 50;

async function choosePartner(visit: Visit): Promise<void> {
  const memberships = await listMemberships(visit.deps.pool, visit.user.userId);
  await show(visit, {
    text: visit.say.partner.choose,
    buttons: [
      ...memberships
        .slice(0, mostShown)
        .map(({ partner }) => [{ text: partner.name, data: dataOf('h', partner) }]),
      [{ text: visit.say.signUp.button, data: 'new' }],
      [{ text: visit.say.back, data: 'home' }],
    ],
  });
}

const askForName = (visit: Visit, text: string) => ask(visit, { step: signUpStep, text, back: 'home' });

export const signUpStep = 'sign_up';

/** The name was typed: the partner is there, and its first test key is offered at once. */
export async function answerSignUp(visit: Visit, typed: string): Promise<void> {
  const { say, deps } = visit;
  const name = typed.trim();
  if (!isLabel(name)) return askForName(visit, say.signUp.badName);
  const signed = await signUp(visit.audit, visit.person, name);
  if (signed.outcome !== 'signed_up') {
    const text = signed.outcome === 'too_many' ? say.signUp.tooMany : say.signUp.tooManyToday;
    await send(visit, { text, buttons: [] });
    return goHome(visit);
  }
  const { partner } = signed;
  await setPartner(deps.pool, visit.user.userId, partner.partnerId);
  await ask(visit, {
    step: 'first_key',
    partnerId: partner.partnerId,
    text: say.signUp.done(partner.name),
    confirm: say.signUp.firstKey,
    back: 'home',
  });
}

export const home: Menu = {
  actions: {
    h: {
      role: 'viewer',
      run: async visit => {
        await setPartner(visit.deps.pool, visit.user.userId, visit.partner.partnerId);
        await showPartner(visit);
      },
    },
  },
  steps: {
    first_key: {
      role: 'developer',
      confirm: async visit => {
        if (!(await createKeyAndShow(visit, 'test', []))) return;
        await send(visit, {
          text: visit.say.signUp.firstPayment(visit.deps.publicUrl),
          buttons: [[{ text: visit.say.menu, data: dataOf('h', visit.partner) }]],
        });
      },
    },
  },
};

export const personalActions: Record<string, PersonalAction> = {
  home: goHome,
  ps: choosePartner,
  new: visit => askForName(visit, visit.say.signUp.askName),
  lang: async (visit, chosen) => {
    const language = languages.find(one => one === chosen);
    if (!language) return;
    await setLanguage(visit.deps.pool, visit.user.userId, language);
    await goHome({ ...visit, user: { ...visit.user, language }, say: texts[language] });
  },
  langs: visit => show(visit, languageScreen()),
  hide: async ({ api, chatId, pressedOn }) => {
    if (pressedOn !== undefined) await api.deleteMessage(chatId, pressedOn).catch(() => {});
  },
};
