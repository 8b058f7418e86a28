import { randomBytes } from 'node:crypto';
import { type Api, GrammyError, InputFile } from 'grammy';
import type { Id } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import * as partners from '../../partners/index.ts';
import type { BotDeps } from '../deps.ts';
import type { Texts } from '../texts/index.ts';
import { type Button, htmlWith, keyboardOf } from './screen.ts';
import { type ChatUser, setDialogue } from './users.ts';

/** One message or callback query in the private chat of a user with the bot. */
export interface ChatContext {
  deps: BotDeps;
  api: Api;
  botName: string;
  user: ChatUser;
  person: partners.Person;
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
  partner: partners.Partner;
  role: partners.MemberRole;
}

/** Sends a new message and returns its id. */
export async function send({ api, chatId }: ChatContext, text: string, buttons: Button[][] = []) {
  return (await api.sendMessage(chatId, text, htmlWith(buttons))).message_id;
}

/** Sends a PNG with a text below it. */
export async function sendPicture(
  { api, chatId }: ChatContext,
  picture: { png: Buffer; fileName: string; caption: string },
  buttons: Button[][],
): Promise<void> {
  const { png, fileName, caption } = picture;
  const options = { caption, parse_mode: 'HTML', reply_markup: keyboardOf(buttons) } as const;
  await api.sendPhoto(chatId, new InputFile(png, fileName), options);
}

/** Replaces the screen whose button was pressed, or sends a new one. */
export async function show(chat: ChatContext, text: string, buttons: Button[][]): Promise<void> {
  if (chat.pressedMessageId === undefined || !(await edit(chat, chat.pressedMessageId, text, buttons)))
    await send(chat, text, buttons);
}

/** False if the message is deleted, too old, or has no text. */
export async function edit(
  { api, chatId }: ChatContext,
  messageId: number,
  text: string,
  buttons: Button[][],
): Promise<boolean> {
  try {
    await api.editMessageText(chatId, messageId, text, htmlWith(buttons));
    return true;
  } catch (error) {
    if (!(error instanceof GrammyError) || error.error_code !== 400) throw error;
    return error.description.includes('message is not modified');
  }
}

export function toast(chat: ChatContext, text: string): void {
  chat.toast = text;
}

/** The membership as it is now: read for every action, so that a removal takes effect at once. */
export async function findMembership({ deps, user }: ChatContext, partnerId: Id<'prt'>) {
  const memberships = await partners.listMemberships(deps.pool, user.userId);
  return memberships.find(({ partner }) => partner.partnerId === partnerId);
}

/** Checks the right again before a write that follows slow work. False if it was lost; the user gets a message. */
export async function canStillAct(chat: PartnerContext, needed: partners.MemberRight): Promise<boolean> {
  const role = (await findMembership(chat, chat.partner.partnerId))?.role;
  if (role && partners.hasRight(role, needed)) return true;
  await send(chat, role ? chat.texts.notAllowed(needed) : chat.texts.noMember);
  return false;
}

/** Callback data of a button about a partner. Never holds a secret; always names the partner, since users switch. */
export const callbackData = (
  action: string,
  { partnerId }: Pick<partners.Partner, 'partnerId'>,
  ...args: string[]
) => [action, partnerId.slice('prt_'.length), ...args].join(':');

/** A button about the partner of the chat. */
export const button = (
  { partner }: PartnerContext,
  text: string,
  action: string,
  ...args: string[]
): Button => ({ text, data: callbackData(action, partner, ...args) });

/** The last row of a screen. */
export const backTo = (chat: PartnerContext, action: string, ...args: string[]): Button[] => [
  button(chat, chat.texts.back, action, ...args),
];

/** The row that opens support, if there is one. Telegram takes no e-mail address for a button: that one is in the text. */
export const supportRow = (
  { supportUrl }: Pick<BotDeps, 'supportUrl'>,
  { support }: Pick<Texts, 'support'>,
): Button[][] => (supportUrl?.startsWith('https:') ? [[{ text: support, url: supportUrl }]] : []);

interface Question {
  step: string;
  args?: string[];
  text: string;
  /** The caption of the button that answers without typing, if there is one. */
  confirm?: string;
}

interface PersonalQuestion extends Question {
  partnerId?: Id<'prt'>;
  /** The callback data of Cancel. */
  cancel: string;
}

/** Asks a question and stores it as the open dialogue. Its button works once, and only until the next question. */
export async function askPerson(
  chat: ChatContext,
  { step, args = [], text, confirm, partnerId, cancel }: PersonalQuestion,
): Promise<void> {
  const nonce = randomBytes(9).toString('base64url');
  const dialogue = { nonce, step, args, ...(partnerId && { partnerId }) };
  await setDialogue(chat.deps.pool, chat.user.userId, dialogue);
  await show(chat, text, [
    ...(confirm ? [[{ text: confirm, data: `ok:${nonce}` }]] : []),
    [{ text: chat.texts.cancel, data: cancel }],
  ]);
}

/** A question about the partner of the chat; `back` is where Cancel leads. */
export const ask = (
  chat: PartnerContext,
  { back: [action, ...args], ...question }: Question & { back: [action: string, ...args: string[]] },
): Promise<void> =>
  askPerson(chat, {
    ...question,
    partnerId: chat.partner.partnerId,
    cancel: callbackData(action, chat.partner, ...args),
  });
