import { invitationPrefix } from '../../bot/index.ts';
import {
  changeRole,
  hasRight,
  invite,
  listMembers,
  maxMembers,
  memberRoles,
  removeMember,
} from '../../partners/index.ts';
import { done, oneOf, readNumber, refuse } from '../../web/index.ts';
import { refuseRight } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';

const below = '/team';
const Role = oneOf(...memberRoles);

const refusals = {
  no_member: [404, 'This person is not in the team.'],
  last_owner: [409, 'This is the last owner: make somebody else an owner first.'],
} as const;

export const list = get(below, 'money', {}, async (request, deps) => {
  const { partnerId } = request.member.partner;
  const members = await listMembers(deps.readsOf(partnerId), partnerId);
  return {
    data: members.map(({ userId, name, role, joinedAt }) => ({
      user_id: `${userId}`,
      name,
      role,
      joined_at: joinedAt.toISOString(),
      is_you: userId === request.person.userId,
    })),
    max_members: maxMembers,
  };
});

/** For one person, once, within a day: what they send to the bot, and the link that does it if the bot's name is known. */
export const inviteMember = post(
  `${below}/invite`,
  'own',
  { body: { role: Role } },
  async (request, deps) => {
    const { role } = request.body;
    const { partnerId } = request.member.partner;
    const audit = auditContextOf(deps, request);
    const payload = invitationPrefix + (await invite(audit, partnerId, request.person.userId, role));
    const { telegramBotName: bot } = deps;
    return { command: `/start ${payload}`, url: bot ? `https://t.me/${bot}?start=${payload}` : null };
  },
);

const setRole = post(`${below}/:user_id/role`, 'own', { body: { role: Role } }, async (request, deps) => {
  const userId = readNumber(request.params.user_id);
  const { role } = request.body;
  const { partnerId } = request.member.partner;
  const outcome =
    userId === undefined
      ? 'no_member'
      : await changeRole(auditContextOf(deps, request), partnerId, userId, role);
  if (outcome === 'changed' || outcome === 'same_role') return done;
  return refuse(refusals[outcome][0], outcome, refusals[outcome][1]);
});

const remove = post(`${below}/:user_id/remove`, 'money', {}, async (request, deps) => {
  const userId = readNumber(request.params.user_id);
  const { partner, role } = request.member;
  // Everybody may remove themselves.
  if (!hasRight(role, 'own') && userId !== request.person.userId) return refuseRight('own');
  const outcome =
    userId === undefined
      ? 'no_member'
      : await removeMember(auditContextOf(deps, request), partner.partnerId, userId);
  if (outcome === 'removed') return done;
  return refuse(refusals[outcome][0], outcome, refusals[outcome][1]);
});

/** The team of a partner. Owners change it; everybody may leave. */
export const teamRoutes = [list, inviteMember, setRole, remove];
