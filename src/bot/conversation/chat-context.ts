import { randomBytes } from 'node:crypto';
import { type Api, GrammyError } from 'grammy';
import type { Id } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import {
  listMemberships,
  type MemberRole,
  type Partner,
  type Person,
  roleIncludes,
} from '../../partners/index.ts';
import type { BotDeps } from '../deps.ts';
import type { Texts } from '../texts/index.ts';
import { type Button, keyboardOf, type Screen } from './screen.ts';
import { type ChatUser, setDialogue } from './users.ts';

/** One message or callback query in the private chat of a user with the bot. */
export interface ChatContext {
  deps: BotDeps;
  api: Api;
  botName: string;
  user: ChatUser;
  person: Person;
  texts: Texts;
  /** Records changes with this user as the actor. */
  audit: AuditContext;
  chatId: number;
  /** The message whose button was pressed; undefined for a message. */
  pressedMessageId: number | undefined;
  /** The answer to the callback query, shown over the chat for a moment. */
  toast: string | undefined;
  /** For slow work: the user's next updates do not wait for it, the graceful shutdown does. */
  runInBackground(work: () => Promise<void>): void;
}

/** The same for a partner of which the user is a member now. */
export interface PartnerContext extends ChatContext {
  partner: Partner;
  role: MemberRole;
}

const htmlWith = (buttons: Button[][]) =>
  ({
    parse_mode: 'HTML',
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  }) as const;

/** Sends a new message and returns its id. */
export async function send({ api, chatId }: ChatContext, { text, buttons }: Screen): Promise<number> {
  return (await api.sendMessage(chatId, text, htmlWith(buttons))).message_id;
}

/** Replaces the screen whose button was pressed, or sends a new one. */
export async function show(chat: ChatContext, screen: Screen): Promise<void> {
  if (chat.pressedMessageId === undefined || !(await edit(chat, chat.pressedMessageId, screen)))
    await send(chat, screen);
}

/** False if the message is deleted, too old, or has no text. */
export async function edit(
  { api, chatId }: ChatContext,
  messageId: number,
  { text, buttons }: Screen,
): Promise<boolean> {
  try {
    await api.editMessageText(chatId, messageId, text, htmlWith(buttons));
    return true;
  } catch (error) {
    if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
    return error.description.includes('message is not modified');
  }
}

/** Checks the role again before a write that follows slow work. False if it was lost; the user gets a message. */
export async function canStillAct(chat: PartnerContext, needed: MemberRole): Promise<boolean> {
  const { deps, user, partner, texts } = chat;
  const memberships = await listMemberships(deps.pool, user.userId);
  const role = memberships.find(one => one.partner.partnerId === partner.partnerId)?.role;
  if (role && roleIncludes(role, needed)) return true;
  await send(chat, { text: role ? texts.notAllowed(needed) : texts.noMember, buttons: [] });
  return false;
}

/** Callback data of a button about a partner. Never holds a secret; always names the partner, since users switch. */
export const callbackData = (action: string, { partnerId }: Pick<Partner, 'partnerId'>, ...args: string[]) =>
  [action, partnerId.slice('prt_'.length), ...args].join(':');

const newNonce = () => randomBytes(9).toString('base64url');

export interface Question {
  step: string;
  partnerId?: Id<'prt'>;
  args?: string[];
  text: string;
  /** The caption of the button that answers without typing, if there is one. */
  confirm?: string;
  /** The callback data of Cancel. */
  back: string;
}

/** Asks a question and stores it as the open dialogue. Its button works once, and only until the next question. */
export async function ask(
  chat: ChatContext,
  { step, partnerId, args = [], ...shown }: Question,
): Promise<void> {
  const nonce = newNonce();
  await setDialogue(chat.deps.pool, chat.user.userId, {
    nonce,
    step,
    args,
    ...(partnerId && { partnerId }),
  });
  const confirm = shown.confirm ? [[{ text: shown.confirm, data: `ok:${nonce}` }]] : [];
  await show(chat, {
    text: shown.text,
    buttons: [...confirm, [{ text: chat.texts.cancel, data: shown.back }]],
  });
}
