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
import type { Button } from '../screen.ts';
import { ask, dataOf, type PartnerVisit, send, show } from '../visit.ts';
import { invitationPrefix } from './home.ts';
import type { Menu } from './menu.ts';

type Member = Awaited<ReturnType<typeof listMembers>>[number];

const isSelf = ({ user }: PartnerVisit, userId: string) => `${user.userId}` === userId;

async function showTeam(visit: PartnerVisit): Promise<void> {
  const { say, deps, partner, role } = visit;
  const members = await listMembers(deps.pool, partner.partnerId);
  // Some teams are larger than one can become now; whoever looks finds at least the way out.
  const shown = members.filter(({ userId }, index) => index < maxMembers || isSelf(visit, `${userId}`));
  const mayManage = shown.filter(({ userId }) => role === 'owner' || isSelf(visit, `${userId}`));
  const invitations = roleIncludes(role, 'owner')
    ? memberRoles.map(wanted => [{ text: say.team.invite(wanted), data: dataOf('ti', partner, wanted) }])
    : [];
  await show(visit, {
    text: say.team.list(shown, members.length - shown.length),
    buttons: [
      ...mayManage.map(member => buttonsFor(visit, member)),
      ...invitations,
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

function buttonsFor(visit: PartnerVisit, member: Member): Button[] {
  const { say, partner, role } = visit;
  const userId = `${member.userId}`;
  const remove = {
    text: isSelf(visit, userId) ? say.team.leave : say.team.remove(member.name),
    data: dataOf('tr', partner, userId),
  };
  const change = { text: say.team.role(member.name, member.role), data: dataOf('tg', partner, userId) };
  return role === 'owner' ? [remove, change] : [remove];
}

async function makeInvitation(visit: PartnerVisit, wanted: string): Promise<void> {
  const role = memberRoles.find(one => one === wanted);
  if (!role) return;
  const { say, partner } = visit;
  const token = await invite(visit.audit, partner.partnerId, visit.user.userId, role);
  const link = `https://t.me/${visit.botName}?start=${invitationPrefix}${token}`;
  await send(visit, {
    text: say.team.invitation(partner.name, role, link),
    buttons: [[{ text: say.secret.hide, data: 'hide' }]],
  });
}

async function findMember({ deps, partner }: PartnerVisit, userId: string): Promise<Member | undefined> {
  const members = await listMembers(deps.pool, partner.partnerId);
  return members.find(one => `${one.userId}` === userId);
}

async function askToRemove(visit: PartnerVisit, userId: string): Promise<void> {
  const { say, partner } = visit;
  const member = await findMember(visit, userId);
  if (!member) return showTeam(visit);
  if (visit.role !== 'owner' && !isSelf(visit, userId)) {
    visit.toast = say.notAllowed('owner');
    return;
  }
  await ask(visit, {
    step: 'member_remove',
    partnerId: partner.partnerId,
    args: [userId],
    text: isSelf(visit, userId)
      ? say.team.askLeave(partner.name)
      : say.team.askRemove(member.name, partner.name),
    confirm: isSelf(visit, userId) ? say.team.leave : say.team.remove(member.name),
    back: dataOf('t', partner),
  });
}

async function remove(visit: PartnerVisit, userId: string): Promise<void> {
  const { say, partner } = visit;
  if (visit.role !== 'owner' && !isSelf(visit, userId)) return;
  const removal = await removeMember(visit.audit, partner.partnerId, BigInt(userId));
  visit.toast = removal === 'last_owner' ? say.team.lastOwner : say.team.removed;
  if (removal === 'removed' && isSelf(visit, userId))
    return show(visit, {
      text: say.team.left(partner.name),
      buttons: [[{ text: say.menu, data: 'home' }]],
    });
  await showTeam(visit);
}

async function chooseRole(visit: PartnerVisit, userId: string): Promise<void> {
  const { say, partner } = visit;
  const member = await findMember(visit, userId);
  if (!member) return showTeam(visit);
  const others = memberRoles.filter(role => role !== member.role);
  await show(visit, {
    text: say.team.chooseRole(member.name, member.role),
    buttons: [
      ...others.map(role => [{ text: say.team.newRole(role), data: dataOf('tc', partner, userId, role) }]),
      [{ text: say.back, data: dataOf('t', partner) }],
    ],
  });
}

async function askToChangeRole(visit: PartnerVisit, userId: string, wanted: string): Promise<void> {
  const { say, partner } = visit;
  const member = await findMember(visit, userId);
  const role = memberRoles.find(one => one === wanted);
  if (!member || !role) return showTeam(visit);
  await ask(visit, {
    step: 'member_role',
    partnerId: partner.partnerId,
    args: [userId, role],
    text: say.team.askRole(member.name, role, partner.name),
    confirm: say.team.newRole(role),
    back: dataOf('t', partner),
  });
}

async function setRole(visit: PartnerVisit, userId: string, role: MemberRole): Promise<void> {
  const { say, partner } = visit;
  const change = await changeRole(visit.audit, partner.partnerId, BigInt(userId), role);
  visit.toast = change === 'last_owner' ? say.team.lastOwner : say.team.roleChanged;
  const own = change === 'changed' && isSelf(visit, userId) ? role : visit.role;
  await showTeam({ ...visit, role: own });
}

export const team: Menu = {
  actions: {
    t: { role: 'viewer', run: showTeam },
    ti: { role: 'owner', run: (visit, role = '') => makeInvitation(visit, role) },
    tg: { role: 'owner', run: (visit, userId = '') => chooseRole(visit, userId) },
    tc: { role: 'owner', run: (visit, userId = '', role = '') => askToChangeRole(visit, userId, role) },
    tr: { role: 'viewer', run: (visit, userId = '') => askToRemove(visit, userId) },
  },
  steps: {
    member_role: {
      role: 'owner',
      confirm: (visit, [userId = '', role]) => setRole(visit, userId, role as MemberRole),
    },
    member_remove: { role: 'viewer', confirm: (visit, [userId = '']) => remove(visit, userId) },
  },
};
