import { invite, listMembers, mayAct, memberRoles, removeMember } from '../../partners/index.ts';
import { ask, dataOf, type PartnerVisit, send, show } from '../visit.ts';
import { invitationPrefix } from './home.ts';
import type { Menu } from './menu.ts';

/** As many as a message and its buttons hold. */
const mostShown = 40;

const isSelf = ({ user }: PartnerVisit, userId: string) => `${user.userId}` === userId;

async function showTeam(visit: PartnerVisit): Promise<void> {
  const { say, deps, partner, role } = visit;
  const members = (await listMembers(deps.pool, partner.partnerId)).slice(0, mostShown);
  const mayRemove = members.filter(({ userId }) => role === 'owner' || isSelf(visit, `${userId}`));
  const invitations = mayAct(role, 'owner')
    ? memberRoles.map(wanted => [{ text: say.team.invite(wanted), data: dataOf('ti', partner, wanted) }])
    : [];
  await show(visit, {
    text: say.team.list(members),
    buttons: [
      ...mayRemove.map(({ userId, name }) => [
        {
          text: isSelf(visit, `${userId}`) ? say.team.leave : say.team.remove(name),
          data: dataOf('tr', partner, `${userId}`),
        },
      ]),
      ...invitations,
      [{ text: say.back, data: dataOf('h', partner) }],
    ],
  });
}

async function makeInvitation(visit: PartnerVisit, wanted: string): Promise<void> {
  const role = memberRoles.find(one => one === wanted);
  if (!role) return;
  const { say, partner } = visit;
  const token = await invite(visit.desk, partner.partnerId, visit.user.userId, role);
  const link = `https://t.me/${visit.botName}?start=${invitationPrefix}${token}`;
  await send(visit, {
    text: say.team.invitation(partner.name, role, link),
    buttons: [[{ text: say.secret.hide, data: 'hide' }]],
  });
}

async function askToRemove(visit: PartnerVisit, userId: string): Promise<void> {
  const { say, deps, partner } = visit;
  const members = await listMembers(deps.pool, partner.partnerId);
  const member = members.find(one => `${one.userId}` === userId);
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
  const removal = await removeMember(visit.desk, partner.partnerId, BigInt(userId));
  visit.toast = removal === 'last_owner' ? say.team.lastOwner : say.team.removed;
  if (removal === 'removed' && isSelf(visit, userId))
    return show(visit, {
      text: say.team.left(partner.name),
      buttons: [[{ text: say.menu, data: 'home' }]],
    });
  await showTeam(visit);
}

export const team: Menu = {
  actions: {
    t: { role: 'viewer', run: showTeam },
    ti: { role: 'owner', run: (visit, role = '') => makeInvitation(visit, role) },
    tr: { role: 'viewer', run: (visit, userId = '') => askToRemove(visit, userId) },
  },
  steps: {
    member_remove: { role: 'viewer', confirm: (visit, [userId = '']) => remove(visit, userId) },
  },
};
