import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import {
  type Changed,
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  type Operator,
  operatorObject,
  operatorRoles,
  readOperatorName,
  resetOperator,
  setOperatorRole,
  setupUrl,
  signOutOperator,
} from '../../operators/index.ts';
import { done, idOr, oneOf, refuse } from '../../web/index.ts';
import type { ConsoleDeps } from '../deps.ts';
import { auditContextOf, get, post } from '../route.ts';

const needs = 'operators.manage';
const Role = oneOf(...operatorRoles);

const refusals = {
  no_operator: [404, 'Operator not found.'],
  last_admin: [409, 'This is the last active administrator: add another one first.'],
  disabled: [409, 'The operator is disabled: enable them first.'],
} as const;

const refuseChange = (outcome: keyof typeof refusals) =>
  refuse(refusals[outcome][0], outcome, refusals[outcome][1]);

const find = idOr('opr', refuseChange('no_operator'));

const listOperatorsRoute = get('/operators', 'see', {}, async (_request, { db }) => ({
  data: (await listOperators(db)).map(operatorObject),
}));

const inviteOperator = post(
  '/operators',
  needs,
  { body: { name: Type.String({ maxLength: 100 }), role: Role } },
  async (request, deps) => {
    const name = readOperatorName(request.body.name);
    if (!name) return refuse(400, 'bad_name', 'A name has 2 to 40 Latin letters, digits, dots or hyphens.');
    const { role } = request.body;
    const creation = await createOperator(auditContextOf(deps, request), deps.keyring, { name, role });
    return creation.outcome === 'created'
      ? setupLinkObject(deps, request, creation)
      : refuse(409, creation.outcome, `An operator named ${name} already exists.`);
  },
);

const resetAccess = post('/operators/:id/reset', needs, { find }, async (request, deps, id) => {
  const audit = auditContextOf(deps, request);
  const result = await resetOperator(audit, deps.keyring, id, { allowLastAdmin: false });
  return result.outcome === 'reset' ? setupLinkObject(deps, request, result) : refuseChange(result.outcome);
});

const changes: Record<string, (audit: AuditContext, id: Id<'opr'>) => Promise<Changed>> = {
  disable: disableOperator,
  enable: enableOperator,
  'sign-out': signOutOperator,
};
const changeOperator = Object.entries(changes).map(([word, act]) =>
  post(`/operators/:id/${word}`, needs, { find }, async (request, deps, id) => {
    const { outcome } = await act(auditContextOf(deps, request), id);
    return outcome === 'done' ? done : refuseChange(outcome);
  }),
);

const setRole = post(
  '/operators/:id/role',
  needs,
  { find, body: { role: Role } },
  async (request, deps, id) => {
    const { outcome } = await setOperatorRole(auditContextOf(deps, request), id, request.body.role);
    return outcome === 'done' ? done : refuseChange(outcome);
  },
);

/** Shown once, to the admin who created or reset an operator. */
export const setupLinkObject = (
  { publicUrl }: ConsoleDeps,
  { headers }: FastifyRequest,
  { operator, token, expiresAt }: { operator: Operator; token: string; expiresAt: Date },
) => ({
  operator_id: operator.operatorId,
  name: operator.name,
  // Without a setting: the origin of the page that sent the request, which the guard has checked.
  setup_url: setupUrl(publicUrl ?? headers.origin!, token),
  expires_at: expiresAt.toISOString(),
});

/** Operators and their roles; only admins change them. */
export const operatorRoutes = [listOperatorsRoute, inviteOperator, resetAccess, ...changeOperator, setRole];
