import { randomBytes } from 'node:crypto';
import { type Api, GrammyError } from 'grammy';
import type { Id } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit.ts';
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

/** One message or press of somebody in their private chat with the bot. */
export interface Visit {
  deps: BotDeps;
  api: Api;
  botName: string;
  user: ChatUser;
  person: Person;
  say: Texts;
  /** Where changes are made in this person's name. */
  audit: AuditContext;
  chatId: number;
  /** The message whose button was pressed. */
  pressedOn: number | undefined;
  /** A line that appears over the chat for a moment, for a press. */
  toast: string | undefined;
  /** For what takes long: others need not wait, and a stop waits for it. */
  inBackground(work: () => Promise<void>): void;
}

/** The same about a partner of which this person is a member, as of now. */
export interface PartnerVisit extends Visit {
  partner: Partner;
  role: MemberRole;
}

const htmlWith = (buttons: Button[][]) =>
  ({
    parse_mode: 'HTML',
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  }) as const;

/** A message of its own; returns its number. */
export async function send({ api, chatId }: Visit, { text, buttons }: Screen): Promise<number> {
  return (await api.sendMessage(chatId, text, htmlWith(buttons))).message_id;
}

/** In place of the screen whose button was pressed, or below. */
export async function show(visit: Visit, screen: Screen): Promise<void> {
  if (visit.pressedOn === undefined || !(await edit(visit, visit.pressedOn, screen)))
    await send(visit, screen);
}

/** False if the message is gone, too old, or none of text. */
export async function edit(
  { api, chatId }: Visit,
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

/** Asked again before a write after anything that takes long. False, and said, if they were removed meanwhile. */
export async function mayStillAct(visit: PartnerVisit, needed: MemberRole): Promise<boolean> {
  const { deps, user, partner, say } = visit;
  const memberships = await listMemberships(deps.pool, user.userId);
  const role = memberships.find(one => one.partner.partnerId === partner.partnerId)?.role;
  if (role && roleIncludes(role, needed)) return true;
  await send(visit, { text: role ? say.notAllowed(needed) : say.noMember, buttons: [] });
  return false;
}

/** What a button about a partner carries: never a secret, and always whose it is, since people change partners. */
export const dataOf = (action: string, { partnerId }: Pick<Partner, 'partnerId'>, ...args: string[]) =>
  [action, partnerId.slice('prt_'.length), ...args].join(':');

const newNonce = () => randomBytes(9).toString('base64url');

export interface Question {
  step: string;
  partnerId?: Id<'prt'>;
  args?: string[];
  text: string;
  /** What the button says that answers without typing, if there is one. */
  confirm?: string;
  /** Where Cancel leads. */
  back: string;
}

/** Asks something and remembers that it did. The button works once, and only until something else is asked. */
export async function ask(visit: Visit, { step, partnerId, args = [], ...shown }: Question): Promise<void> {
  const nonce = newNonce();
  await setDialogue(visit.deps.pool, visit.user.userId, {
    nonce,
    step,
    args,
    ...(partnerId && { partnerId }),
  });
  const confirm = shown.confirm ? [[{ text: shown.confirm, data: `ok:${nonce}` }]] : [];
  await show(visit, {
    text: shown.text,
    buttons: [...confirm, [{ text: visit.say.cancel, data: shown.back }]],
  });
}
