import type { FastifyRequest } from 'fastify';
import type { AuditContext } from '../db/audit/index.ts';
import type { Permission } from '../operators/index.ts';
import { routesOf } from '../web/index.ts';
import type { ConsoleDeps } from './deps.ts';

/** A route of the console, with the permission that it needs; `nothing` for those that work before signing in. */
export const { get, post } = routesOf<ConsoleDeps, Permission | 'nothing'>((url, needs) => ({
  url,
  config: { needs },
}));

/** Changes are recorded in the audit log under the signed-in operator. */
export const auditContextOf = ({ pool, clock }: ConsoleDeps, { operator }: FastifyRequest): AuditContext => ({
  pool,
  clock,
  actor: `operator:${operator.name}`,
});
