import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { invitationPrefix } from '../../bot/index.ts';
import {
  changeRole,
  invite,
  listMembers,
  type MemberRole,
  maxMembers,
  memberRoles,
  removeMember,
} from '../../partners/index.ts';
import { Body, done, type Routes, readNumber, refuse, typed } from '../../web/index.ts';
import { auditContextOf } from '../audit-context.ts';
import type { RouteDeps } from '../deps.ts';
import { refuseRole } from '../guard.ts';
import type { Invitation, Team } from '../shapes/team.ts';

const below = '/partners/:partner_id/team';
const Role = Type.Union(memberRoles.map(role => Type.Literal(role)));
const UserId = Type.Object({ user_id: Type.String({ maxLength: 30 }) });

const refusals = {
  no_member: [404, 'This person is not in the team.'],
  last_owner: [409, 'This is the last owner: make somebody else an owner first.'],
} as const;

/** The team of a partner. Owners change it; everybody may leave. */
export function teamRoutes(scope: FastifyInstance, deps: RouteDeps): void {
  const routes = typed(scope);
  list(routes, deps);
  inviteMember(routes, deps);
  setRole(routes, deps);
  remove(routes, deps);
}

function list(routes: Routes, deps: RouteDeps): void {
  routes.get(below, { config: { allows: 'viewer' } }, async (request): Promise<Team> => {
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
}

function inviteMember(routes: Routes, deps: RouteDeps): void {
  routes.post(
    `${below}/invite`,
    { config: { allows: 'owner' }, schema: { body: Body({ role: Role }) } },
    async (request): Promise<Invitation> => {
      const role = request.body.role as MemberRole;
      const { partnerId } = request.member.partner;
      const audit = auditContextOf(deps, request);
      const payload = invitationPrefix + (await invite(audit, partnerId, request.person.userId, role));
      const { telegramBotName: bot } = deps;
      return { command: `/start ${payload}`, url: bot ? `https://t.me/${bot}?start=${payload}` : null };
    },
  );
}

function setRole(routes: Routes, deps: RouteDeps): void {
  routes.post(
    `${below}/:user_id/role`,
    { config: { allows: 'owner' }, schema: { params: UserId, body: Body({ role: Role }) } },
    async (request, reply) => {
      const userId = readNumber(request.params.user_id);
      const role = request.body.role as MemberRole;
      const { partnerId } = request.member.partner;
      const outcome =
        userId === undefined
          ? 'no_member'
          : await changeRole(auditContextOf(deps, request), partnerId, userId, role);
      if (outcome === 'changed' || outcome === 'same_role') return done;
      return refuse(request, reply, refusals[outcome][0], outcome, refusals[outcome][1]);
    },
  );
}

function remove(routes: Routes, deps: RouteDeps): void {
  routes.post(
    `${below}/:user_id/remove`,
    { config: { allows: 'viewer' }, schema: { params: UserId } },
    async (request, reply) => {
      const userId = readNumber(request.params.user_id);
      const { partner, role } = request.member;
      // Everybody may remove themselves.
      if (role !== 'owner' && userId !== request.person.userId) return refuseRole(request, reply, 'owner');
      const outcome =
        userId === undefined
          ? 'no_member'
          : await removeMember(auditContextOf(deps, request), partner.partnerId, userId);
      if (outcome === 'removed') return done;
      return refuse(request, reply, refusals[outcome][0], outcome, refusals[outcome][1]);
    },
  );
}
