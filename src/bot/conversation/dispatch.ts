import type { Bot, Context } from 'grammy';
import { instantOf } from '../../base/clock.ts';
import { type Id, parseId } from '../../base/ids.ts';
import { listMemberships, type MemberRole, roleIncludes } from '../../partners/index.ts';
import type { BotDeps } from '../deps.ts';
import { createQrReader } from '../images/qr-reader.ts';
import { handleStaffPress } from '../notices/staff.ts';
import { texts } from '../texts/index.ts';
import { createLimits } from './limits.ts';
import { balance } from './menus/balance.ts';
import { answerSignUp, goHome, home, personalActions, signUpStep, start } from './menus/home.ts';
import { keyAddresses } from './menus/key-addresses.ts';
import { keys } from './menus/keys.ts';
import type { PartnerAction, PartnerStep, PersonalAction } from './menus/menu.ts';
import { payments } from './menus/payments.ts';
import { showQrLink, showQrPhoto } from './menus/qr.ts';
import { rate } from './menus/rate.ts';
import { settingsActions } from './menus/settings.ts';
import { team } from './menus/team.ts';
import { webhook } from './menus/webhook.ts';
import { clip } from './screen.ts';
import { type Dialogue, meetUser, setBlocked, takeDialogue } from './users.ts';
import { type PartnerVisit, send, type Visit } from './visit.ts';

const menus = [home, keys, keyAddresses, webhook, balance, payments, rate, team];
const partnerActions = new Map<string, PartnerAction>(
  menus.flatMap(({ actions }) => Object.entries(actions)),
);
const partnerSteps = new Map<string, PartnerStep>(menus.flatMap(({ steps }) => Object.entries(steps)));
const personal = new Map<string, PersonalAction>(Object.entries({ ...personalActions, ...settingsActions }));

/** Names are for others to tell people apart by; Telegram allows longer ones. */
const longestName = 64;

/** Sorts what comes in: who it is from, whether they may, and what it is about. */
export function dispatch(
  bot: Bot,
  deps: BotDeps,
  inBackground: (visit: Pick<Visit, 'chatId' | 'say'>, work: () => Promise<void>) => void,
): void {
  const admit = createLimits(deps.clock);
  const qrReader = createQrReader();

  async function visitOf(context: Context): Promise<Visit> {
    const { from } = context;
    const userId = BigInt(from!.id);
    const language = from!.language_code?.startsWith('ru') ? 'ru' : 'en';
    const user = await meetUser(deps.pool, deps.clock, userId, language);
    const name = [from!.first_name, from!.last_name].filter(Boolean).join(' ');
    const visit: Visit = {
      deps,
      api: context.api,
      botName: context.me.username,
      user,
      person: { userId, name: clip(name, longestName) },
      say: texts[user.language],
      audit: { pool: deps.pool, clock: deps.clock, actor: `telegram:${userId}` },
      chatId: from!.id,
      pressedOn: context.callbackQuery?.message?.message_id,
      toast: undefined,
      inBackground: work => inBackground(visit, work),
    };
    return visit;
  }

  bot.on('callback_query:data', async context => {
    const { message, from } = context.callbackQuery;
    const isStaff = message !== undefined && message.chat.id === deps.telegramStaffChat;
    // A button acts only where it was shown: in the staff chat, or to the one whose chat it is.
    if (!isStaff && message?.chat.id !== from.id) return answer(context, texts.en.notYours);
    if (admit(BigInt(from.id)) !== 'welcome') return answer(context, texts.en.tooFast);
    if (isStaff) return answer(context, await handleStaffPress(deps, context.api, context));
    const visit = await visitOf(context);
    try {
      await press(visit, context.callbackQuery.data);
    } finally {
      await answer(context, visit.toast);
    }
  });

  bot.on('message', async context => {
    if (context.chat.type !== 'private' || !context.from) return;
    const admittance = admit(BigInt(context.from.id));
    if (admittance === 'too_fast_and_told') return;
    const visit = await visitOf(context);
    if (admittance === 'too_fast') return void (await send(visit, { text: visit.say.tooFast, buttons: [] }));
    const { text, photo, document, forward_origin } = context.message;
    const picture = photo?.at(-1)?.file_id ?? document?.file_id;
    if (picture !== undefined)
      return withCurrentPartner(visit, found => showQrPhoto(found, picture, qrReader));
    const { dialogue } = visit.user;
    // A sticker by mistake does not end a question.
    if (text === undefined && dialogue)
      return void (await send(visit, { text: visit.say.onlyText, buttons: [] }));
    if (text === undefined) return goHome(visit);
    if (/^\/start\b/.test(text)) return start(visit, text.slice('/start'.length).trim());
    if (text.startsWith('/')) return goHome(visit);
    if (dialogue && !forward_origin && (await type(visit, dialogue, text))) return;
    if (/^\s*(https?|bank\d+):\/\//i.test(text))
      return withCurrentPartner(visit, found => showQrLink(found, text));
    // What somebody else wrote is nobody's answer, and the question stays.
    if (dialogue && forward_origin)
      return void (await send(visit, { text: visit.say.forwarded, buttons: [] }));
    return goHome(visit);
  });

  bot.on('my_chat_member', async ({ chat, myChatMember }) => {
    if (chat.type === 'private' && myChatMember.new_chat_member.status === 'kicked')
      await setBlocked(deps.pool, BigInt(chat.id), instantOf(deps.clock));
  });
}

/** Whatever was pressed is answered, or the button would spin; a press may be too old for it. */
async function answer(context: Context, text: string | undefined): Promise<void> {
  await context.answerCallbackQuery(text === undefined ? {} : { text: clip(text, 200) }).catch(() => {});
}

async function press(visit: Visit, data: string): Promise<void> {
  const [name = '', ...args] = data.split(':');
  if (name === 'ok') return confirm(visit, args[0] ?? '');
  // Whoever goes elsewhere does not answer any more; what they type next is no answer either.
  if (visit.user.dialogue && name !== 'hide')
    await takeDialogue(visit.deps.pool, visit.user.userId, visit.user.dialogue.nonce);
  const action = personal.get(name);
  if (action) return action(visit, ...args);
  const partnerAction = partnerActions.get(name);
  const partnerId = parseId('prt', `prt_${args[0]}`);
  if (!partnerAction || !partnerId) {
    visit.toast = visit.say.outdated;
    return;
  }
  await asMember(visit, partnerId, partnerAction.role, found => partnerAction.run(found, ...args.slice(1)));
}

/** Membership and role are those of this moment, whatever they were when the button was shown. */
async function asMember(
  visit: Visit,
  partnerId: Id<'prt'>,
  role: MemberRole,
  work: (visit: PartnerVisit) => Promise<void>,
): Promise<void> {
  const memberships = await listMemberships(visit.deps.pool, visit.user.userId);
  const membership = memberships.find(({ partner }) => partner.partnerId === partnerId);
  if (!membership) {
    visit.toast = visit.say.noMember;
    return goHome(visit);
  }
  if (!roleIncludes(membership.role, role)) {
    visit.toast = visit.say.notAllowed(role);
    if (visit.pressedOn === undefined) await send(visit, { text: visit.toast, buttons: [] });
    return;
  }
  const found: PartnerVisit = { ...visit, ...membership };
  await work(found);
  visit.toast = found.toast;
}

async function withCurrentPartner(visit: Visit, work: (visit: PartnerVisit) => Promise<void>): Promise<void> {
  const memberships = await listMemberships(visit.deps.pool, visit.user.userId);
  const current =
    memberships.find(({ partner }) => partner.partnerId === visit.user.partnerId) ?? memberships[0];
  return current ? work({ ...visit, ...current }) : goHome(visit);
}

async function confirm(visit: Visit, nonce: string): Promise<void> {
  const { dialogue } = visit.user;
  const step = dialogue && partnerSteps.get(dialogue.step);
  const isTaken =
    dialogue?.nonce === nonce && (await takeDialogue(visit.deps.pool, visit.user.userId, nonce));
  if (!isTaken || !step?.confirm || !dialogue?.partnerId) {
    visit.toast = visit.say.outdated;
    return;
  }
  await asMember(visit, dialogue.partnerId, step.role, found => step.confirm!(found, dialogue.args));
}

/** False if nothing that is typed was waited for. */
async function type(visit: Visit, dialogue: Dialogue, typed: string): Promise<boolean> {
  const step = partnerSteps.get(dialogue.step);
  if (dialogue.step !== signUpStep && !step?.answer) return false;
  if (!(await takeDialogue(visit.deps.pool, visit.user.userId, dialogue.nonce))) return false;
  if (dialogue.step === signUpStep) await answerSignUp(visit, typed);
  else
    await asMember(visit, dialogue.partnerId!, step!.role, found =>
      step!.answer!(found, dialogue.args, typed),
    );
  return true;
}
