import type { Id } from '../../base/ids.ts';
import { listMemberships, type MemberRole, roleIncludes } from '../../partners/index.ts';
import { type ChatContext, type PartnerContext, send } from './chat-context.ts';
import { goHome } from './menus/home.ts';

/** Runs `work` if the user has the role now, whatever it was when the button was shown. */
export async function asMember(
  chat: ChatContext,
  partnerId: Id<'prt'>,
  role: MemberRole,
  work: (chat: PartnerContext) => Promise<void>,
): Promise<void> {
  const memberships = await listMemberships(chat.deps.pool, chat.user.userId);
  const membership = memberships.find(({ partner }) => partner.partnerId === partnerId);
  if (!membership) {
    chat.toast = chat.texts.noMember;
    return goHome(chat);
  }
  if (!roleIncludes(membership.role, role)) {
    chat.toast = chat.texts.notAllowed(role);
    if (chat.pressedMessageId === undefined) await send(chat, { text: chat.toast, buttons: [] });
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
  const memberships = await listMemberships(chat.deps.pool, chat.user.userId);
  const current =
    memberships.find(({ partner }) => partner.partnerId === chat.user.partnerId) ?? memberships[0];
  return current ? work({ ...chat, ...current }) : goHome(chat);
}
