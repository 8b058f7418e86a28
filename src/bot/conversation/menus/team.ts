import * as partners from '../../../partners/index.ts';
import { ask, backTo, button, type PartnerContext, send, show, toast } from '../chat-context.ts';
import type { Button } from '../screen.ts';
import { invitationPrefix } from './home.ts';
import type { Menu } from './menu.ts';

type Member = Awaited<ReturnType<typeof partners.listMembers>>[number];

const isSelf = ({ user }: PartnerContext, userId: string) => `${user.userId}` === userId;
const mayRemove = (chat: PartnerContext, userId: string) =>
  partners.hasRight(chat.role, 'own') || isSelf(chat, userId);

async function showTeam(chat: PartnerContext): Promise<void> {
  const { deps, partner, role } = chat;
  const texts = chat.texts.team;
  const members = await partners.listMembers(deps.pool, partner.partnerId);
  // A team may be larger than today's limit; the user always sees their own row, to be able to leave.
  const shown = members.filter(
    ({ userId }, index) => index < partners.maxMembers || isSelf(chat, `${userId}`),
  );
  const manageable = shown.filter(({ userId }) => mayRemove(chat, `${userId}`));
  const invited = partners.hasRight(role, 'own') ? partners.memberRoles : [];
  await show(chat, texts.list(shown, members.length - shown.length), [
    ...manageable.map(member => buttonsFor(chat, member)),
    ...invited.map(wanted => [button(chat, texts.invite(wanted), 'ti', wanted)]),
    backTo(chat, 'h'),
  ]);
}

function buttonsFor(chat: PartnerContext, member: Member): Button[] {
  const texts = chat.texts.team;
  const userId = `${member.userId}`;
  const remove = isSelf(chat, userId) ? texts.leave : texts.remove(member.name);
  const change = button(chat, texts.role(member.name, member.role), 'tg', userId);
  return [button(chat, remove, 'tr', userId), ...(partners.hasRight(chat.role, 'own') ? [change] : [])];
}

async function makeInvitation(chat: PartnerContext, wanted?: string): Promise<void> {
  const role = partners.memberRoles.find(one => one === wanted);
  if (!role) return;
  const { texts, partner } = chat;
  const token = await partners.invite(chat.audit, partner.partnerId, chat.user.userId, role);
  const link = `https://t.me/${chat.botName}?start=${invitationPrefix}${token}`;
  const text = texts.team.invitation(partner.name, role, link);
  await send(chat, text, [[{ text: texts.secret.hide, data: 'hide' }]]);
}

async function findMember({ deps, partner }: PartnerContext, userId: string): Promise<Member | undefined> {
  const members = await partners.listMembers(deps.pool, partner.partnerId);
  return members.find(one => `${one.userId}` === userId);
}

async function askToRemove(chat: PartnerContext, userId = ''): Promise<void> {
  const { texts, partner } = chat;
  const member = await findMember(chat, userId);
  if (!member) return showTeam(chat);
  if (!mayRemove(chat, userId)) return toast(chat, texts.notAllowed('own'));
  const { askLeave, leave, askRemove, remove } = texts.team;
  const shown = isSelf(chat, userId)
    ? { text: askLeave(partner.name), confirm: leave }
    : { text: askRemove(member.name, partner.name), confirm: remove(member.name) };
  await ask(chat, { step: 'member_remove', args: [userId], ...shown, back: ['t'] });
}

async function remove(chat: PartnerContext, userId = ''): Promise<void> {
  const { texts, partner } = chat;
  if (!mayRemove(chat, userId)) return;
  const removal = await partners.removeMember(chat.audit, partner.partnerId, BigInt(userId));
  chat.toast = removal === 'last_owner' ? texts.team.lastOwner : texts.team.removed;
  if (removal === 'removed' && isSelf(chat, userId))
    return show(chat, texts.team.left(partner.name), [[{ text: texts.menu, data: 'home' }]]);
  await showTeam(chat);
}

async function chooseRole(chat: PartnerContext, userId = ''): Promise<void> {
  const texts = chat.texts.team;
  const member = await findMember(chat, userId);
  if (!member) return showTeam(chat);
  const others = partners.memberRoles.filter(role => role !== member.role);
  await show(chat, texts.chooseRole(member.name, member.role), [
    ...others.map(role => [button(chat, texts.newRole(role), 'tc', userId, role)]),
    backTo(chat, 't'),
  ]);
}

async function askToChangeRole(chat: PartnerContext, userId = '', wanted = ''): Promise<void> {
  const texts = chat.texts.team;
  const member = await findMember(chat, userId);
  const role = partners.memberRoles.find(one => one === wanted);
  if (!member || !role) return showTeam(chat);
  const shown = { text: texts.askRole(member.name, role, chat.partner.name), confirm: texts.newRole(role) };
  await ask(chat, { step: 'member_role', args: [userId, role], ...shown, back: ['t'] });
}

async function setRole(chat: PartnerContext, userId = '', wanted = ''): Promise<void> {
  const { texts, partner } = chat;
  const role = wanted as partners.MemberRole;
  const change = await partners.changeRole(chat.audit, partner.partnerId, BigInt(userId), role);
  chat.toast = change === 'last_owner' ? texts.team.lastOwner : texts.team.roleChanged;
  await showTeam({ ...chat, role: change === 'changed' && isSelf(chat, userId) ? role : chat.role });
}

export const team: Menu = {
  money: {
    actions: { t: showTeam, tr: askToRemove },
    steps: { member_remove: { confirm: remove } },
  },
  own: {
    actions: { ti: makeInvitation, tg: chooseRole, tc: askToChangeRole },
    steps: { member_role: { confirm: setRole } },
  },
};
