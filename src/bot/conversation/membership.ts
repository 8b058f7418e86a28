import type { Id } from '../../base/ids.ts';
import { type MemberRole, roleIncludes } from '../../partners/index.ts';
import { type ChatContext, findMembership, type PartnerContext, send } from './chat-context.ts';
import { findCurrent, goHome } from './menus/home.ts';

/** Runs `work` if the user has the role now, whatever it was when the button was shown. */
export async function asMember(
  chat: ChatContext,
  partnerId: Id<'prt'>,
  role: MemberRole,
  work: (chat: PartnerContext) => Promise<void>,
): Promise<void> {
  const membership = await findMembership(chat, partnerId);
  if (!membership) {
    chat.toast = chat.texts.noMember;
    return goHome(chat);
  }
  if (!roleIncludes(membership.role, role)) {
    chat.toast = chat.texts.notAllowed(role);
    if (chat.pressedMessageId === undefined) await send(chat, chat.toast);
    return;
  }
  const partnerChat: PartnerContext = { ...chat, ...membership };
  await work(partnerChat);
  chat.toast = partnerChat.toast;
}

export async function withCurrentPartner(
  chat: ChatContext,
  work: (chat: PartnerContext) => Promise<void>,
): Promise<void> {
  const current = await findCurrent(chat);
  return current ? work({ ...chat, ...current }) : goHome(chat);
}
