import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Id, parseId } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit.ts';
import {
  type Changed,
  createOperator,
  disableOperator,
  enableOperator,
  endSession,
  listOperators,
  listSessions,
  type Operator,
  operatorRoles,
  readOperatorName,
  resetOperator,
  roleHasPermission,
  setOperatorRole,
  setupUrl,
  signOutOperator,
} from '../../operators/index.ts';
import type { ConsoleDeps } from '../deps.ts';
import { auditContextOf, Body, done, refuse, typed } from '../replies.ts';
import type { Invitation, OperatorRow, SessionRow } from '../shapes/access.ts';

const needs = 'operators.manage';
const Role = Type.Union(operatorRoles.map(role => Type.Literal(role)));
const ById = Type.Object({ id: Type.String() });

const refusals = {
  no_operator: [404, 'There is no such operator.'],
  last_admin: [409, 'This is the last active admin: make another one first.'],
  disabled: [409, 'The operator is disabled: enable them first.'],
} as const;

/** Who has access; managed by admins. And the sessions that are open: one's own, or everybody's. */
export function operatorRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  const routes = typed(scope);

  const send = (request: FastifyRequest, reply: FastifyReply, outcome: keyof typeof refusals) =>
    refuse(request, reply, refusals[outcome][0], outcome, refusals[outcome][1]);

  const invitationObject = (
    { headers }: FastifyRequest,
    { operator, token, expiresAt }: { operator: Operator; token: string; expiresAt: Date },
  ): Invitation => ({
    operator_id: operator.operatorId,
    name: operator.name,
    // Where the page is that asks; it has been checked to be one of ours.
    setup_url: setupUrl(deps.publicUrl ?? headers.origin!, token),
    expires_at: expiresAt.toISOString(),
  });

  routes.get('/operators', { config: { needs: 'see' } }, async () => ({
    data: (await listOperators(deps.db)).map(operatorRow),
  }));

  routes.post(
    '/operators',
    {
      config: { needs },
      schema: { body: Body({ name: Type.String({ maxLength: 100 }), role: Role }) },
    },
    async (request, reply) => {
      const name = readOperatorName(request.body.name);
      if (!name)
        return refuse(
          request,
          reply,
          400,
          'bad_name',
          'It takes 2 to 40 Latin letters, digits, dots and hyphens.',
        );
      const { role } = request.body;
      const creation = await createOperator(auditContextOf(deps, request), deps.secretKey, { name, role });
      return creation.outcome === 'created'
        ? invitationObject(request, creation)
        : refuse(request, reply, 409, creation.outcome, `There is an operator ${name} already.`);
    },
  );

  routes.post(
    '/operators/:id/reset',
    { config: { needs }, schema: { params: ById } },
    async (request, reply) => {
      const id = parseId('opr', request.params.id);
      const audit = auditContextOf(deps, request);
      const result = id && (await resetOperator(audit, deps.secretKey, id, { allowLastAdmin: false }));
      if (result?.outcome === 'reset') return invitationObject(request, result);
      return send(request, reply, result?.outcome ?? 'no_operator');
    },
  );

  const changes: Record<string, (audit: AuditContext, id: Id<'opr'>) => Promise<Changed>> = {
    disable: disableOperator,
    enable: enableOperator,
    'sign-out': signOutOperator,
  };
  for (const [word, act] of Object.entries(changes))
    routes.post(
      `/operators/:id/${word}`,
      { config: { needs }, schema: { params: ById } },
      async (request, reply) => {
        const id = parseId('opr', (request.params as { id: string }).id);
        const outcome = id ? (await act(auditContextOf(deps, request), id)).outcome : 'no_operator';
        return outcome === 'done' ? done : send(request, reply, outcome);
      },
    );

  routes.post(
    '/operators/:id/role',
    { config: { needs }, schema: { params: ById, body: Body({ role: Role }) } },
    async (request, reply) => {
      const id = parseId('opr', request.params.id);
      const audit = auditContextOf(deps, request);
      const outcome = id ? (await setOperatorRole(audit, id, request.body.role)).outcome : 'no_operator';
      return outcome === 'done' ? done : send(request, reply, outcome);
    },
  );

  const sessionsOf = ({ operator }: FastifyRequest) =>
    roleHasPermission(operator.role, needs) ? undefined : operator.operatorId;

  routes.get('/sessions', { config: { needs: 'see' } }, async request => {
    const sessions = await listSessions(deps.db, deps.clock, sessionsOf(request));
    return {
      data: sessions.map(
        (session): SessionRow => ({
          session_id: session.sessionId,
          operator_id: session.operatorId,
          operator: session.name,
          address: session.address,
          user_agent: session.userAgent,
          created_at: session.createdAt.toISOString(),
          last_seen_at: session.lastSeenAt.toISOString(),
          ends_at: session.endsAt.toISOString(),
          is_this_one: session.sessionId === request.operator.sessionId,
        }),
      ),
    };
  });

  // One's own anybody may end; to who may not end it, another's session is not there.
  routes.post(
    '/sessions/:id/revoke',
    { config: { needs: 'see' }, schema: { params: ById } },
    async (request, reply) => {
      const id = parseId('ses', request.params.id);
      const ofOperator = sessionsOf(request);
      const how = { action: 'session.revoke', ...(ofOperator ? { ofOperator } : {}) } as const;
      const outcome = id ? await endSession(auditContextOf(deps, request), id, how) : 'no_session';
      if (outcome === 'ended') return done;
      return refuse(request, reply, 404, 'no_session', 'There is no such session, or it has ended.');
    },
  );
}

const operatorRow = (operator: Operator): OperatorRow => ({
  operator_id: operator.operatorId,
  name: operator.name,
  role: operator.role,
  state: operator.state,
  created_at: operator.createdAt.toISOString(),
  last_seen_at: operator.lastSeenAt?.toISOString() ?? null,
});
