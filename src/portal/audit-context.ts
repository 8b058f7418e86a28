import type { FastifyRequest } from 'fastify';
import type { AuditContext } from '../db/audit/index.ts';
import { auditContextOfPerson } from '../partners/index.ts';
import type { PortalDeps } from './deps.ts';

/** The same actor as in the bot: one person, whichever way they came. */
export const auditContextOf = (deps: PortalDeps, { person }: FastifyRequest): AuditContext =>
  auditContextOfPerson(deps, person);
