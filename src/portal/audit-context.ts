import type { FastifyRequest } from 'fastify';
import type { AuditContext } from '../db/audit.ts';
import type { PortalDeps } from './deps.ts';

/** The same actor as in the bot: one person, whichever way they came. */
export const auditContextOf = ({ pool, clock }: PortalDeps, { person }: FastifyRequest): AuditContext => ({
  pool,
  clock,
  actor: `telegram:${person.userId}`,
});
