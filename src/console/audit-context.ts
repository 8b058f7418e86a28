import type { FastifyRequest } from 'fastify';
import type { AuditContext } from '../db/audit/index.ts';
import type { ConsoleDeps } from './deps.ts';

/** Changes are recorded in the audit log under the signed-in operator. */
export const auditContextOf = ({ pool, clock }: ConsoleDeps, { operator }: FastifyRequest): AuditContext => ({
  pool,
  clock,
  actor: `operator:${operator.name}`,
});
