import {
  changeRole,
  invite,
  listMembers,
  type MemberRole,
  maxMembers,
  memberRoles,
  removeMember,
  roleIncludes,
} from '../../../partners/index.ts';
import { ask, callbackData, type PartnerContext, send, show } from '../chat-context.ts';
import type { Button } from '../screen.ts';
import { invitationPrefix } from './home.ts';
import type { Menu } from './menu.ts';

type Member = Awaited<ReturnType<typeof listMembers>>[number];

const isSelf = ({ user }: PartnerContext, userId: string) => `${user.userId}` === userId;

async function showTeam(chat: PartnerContext): Promise<void> {
  const { texts, deps, partner, role } = chat;
  const members = await listMembers(deps.pool, partner.partnerId);
  // A team may be larger than today's limit; the user always sees their own row, to be able to leave.
  const shown = members.filter(({ userId }, index) => index < maxMembers || isSelf(chat, `${userId}`));
  const manageable = shown.filter(({ userId }) => role === 'owner' || isSelf(chat, `${userId}`));
  const invitations = roleIncludes(role, 'owner')
    ? memberRoles.map(wanted => [
        { text: texts.team.invite(wanted), data: callbackData('ti', partner, wanted) },
      ])
    : [];
  await show(chat, {
    text: texts.team.list(shown, members.length - shown.length),
    buttons: [
      ...manageable.map(member => buttonsFor(chat, member)),
      ...invitations,
      [{ text: texts.back, data: callbackData('h', partner) }],
    ],
  });
}

function buttonsFor(chat: PartnerContext, member: Member): Button[] {
  const { texts, partner, role } = chat;
  const userId = `${member.userId}`;
  const remove = {
    text: isSelf(chat, userId) ? texts.team.leave : texts.team.remove(member.name),
    data: callbackData('tr', partner, userId),
  };
  const change = {
    text: texts.team.role(member.name, member.role),
    data: callbackData('tg', partner, userId),
  };
  return role === 'owner' ? [remove, change] : [remove];
}

async function makeInvitation(chat: PartnerContext, wanted: string): Promise<void> {
  const role = memberRoles.find(one => one === wanted);
  if (!role) return;
  const { texts, partner } = chat;
  const token = await invite(chat.audit, partner.partnerId, chat.user.userId, role);
  const link = `https://t.me/${chat.botName}?start=${invitationPrefix}${token}`;
  await send(chat, {
    text: texts.team.invitation(partner.name, role, link),
    buttons: [[{ text: texts.secret.hide, data: 'hide' }]],
  });
}

async function findMember({ deps, partner }: PartnerContext, userId: string): Promise<Member | undefined> {
  const members = await listMembers(deps.pool, partner.partnerId);
  return members.find(one => `${one.userId}` === userId);
}

async function askToRemove(chat: PartnerContext, userId: string): Promise<void> {
  const { texts, partner } = chat;
  const member = await findMember(chat, userId);
  if (!member) return showTeam(chat);
  if (chat.role !== 'owner' && !isSelf(chat, userId)) {
    chat.toast = texts.notAllowed('owner');
    return;
  }
  await ask(chat, {
    step: 'member_remove',
    partnerId: partner.partnerId,
    args: [userId],
    text: isSelf(chat, userId)
      ? texts.team.askLeave(partner.name)
      : texts.team.askRemove(member.name, partner.name),
    confirm: isSelf(chat, userId) ? texts.team.leave : texts.team.remove(member.name),
    back: callbackData('t', partner),
  });
}

async function remove(chat: PartnerContext, userId: string): Promise<void> {
  const { texts, partner } = chat;
  if (chat.role !== 'owner' && !isSelf(chat, userId)) return;
  const removal = await removeMember(chat.audit, partner.partnerId, BigInt(userId));
  chat.toast = removal === 'last_owner' ? texts.team.lastOwner : texts.team.removed;
  if (removal === 'removed' && isSelf(chat, userId))
    return show(chat, {
      text: texts.team.left(partner.name),
      buttons: [[{ text: texts.menu, data: 'home' }]],
    });
  await showTeam(chat);
}

async function chooseRole(chat: PartnerContext, userId: string): Promise<void> {
  const { texts, partner } = chat;
  const member = await findMember(chat, userId);
  if (!member) return showTeam(chat);
  const others = memberRoles.filter(role => role !== member.role);
  await show(chat, {
    text: texts.team.chooseRole(member.name, member.role),
    buttons: [
      ...others.map(role => [
        { text: texts.team.newRole(role), data: callbackData('tc', partner, userId, role) },
      ]),
      [{ text: texts.back, data: callbackData('t', partner) }],
    ],
  });
}

async function askToChangeRole(chat: PartnerContext, userId: string, wanted: string): Promise<void> {
  const { texts, partner } = chat;
  const member = await findMember(chat, userId);
  const role = memberRoles.find(one => one === wanted);
  if (!member || !role) return showTeam(chat);
  await ask(chat, {
    step: 'member_role',
    partnerId: partner.partnerId,
    args: [userId, role],
    text: texts.team.askRole(member.name, role, partner.name),
    confirm: texts.team.newRole(role),
    back: callbackData('t', partner),
  });
}

async function setRole(chat: PartnerContext, userId: string, role: MemberRole): Promise<void> {
  const { texts, partner } = chat;
  const change = await changeRole(chat.audit, partner.partnerId, BigInt(userId), role);
  chat.toast = change === 'last_owner' ? texts.team.lastOwner : texts.team.roleChanged;
  const own = change === 'changed' && isSelf(chat, userId) ? role : chat.role;
  await showTeam({ ...chat, role: own });
}

export const team: Menu = {
  actions: {
    t: { role: 'viewer', run: showTeam },
    ti: { role: 'owner', run: (chat, role = '') => makeInvitation(chat, role) },
    tg: { role: 'owner', run: (chat, userId = '') => chooseRole(chat, userId) },
    tc: { role: 'owner', run: (chat, userId = '', role = '') => askToChangeRole(chat, userId, role) },
    tr: { role: 'viewer', run: (chat, userId = '') => askToRemove(chat, userId) },
  },
  steps: {
    member_role: {
      role: 'owner',
      confirm: (chat, [userId = '', role]) => setRole(chat, userId, role as MemberRole),
    },
    member_remove: { role: 'viewer', confirm: (chat, [userId = '']) => remove(chat, userId) },
  },
};
