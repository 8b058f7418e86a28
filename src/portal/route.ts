import type { FastifyRequest } from 'fastify';
import type { AuditContext } from '../db/audit/index.ts';
import { auditContextOfPerson, type MemberRight } from '../partners/index.ts';
import { routesOf } from '../web/index.ts';
import type { PortalDeps, RouteDeps } from './deps.ts';

/** A route of the portal, with whom it allows. Those for members are below their partner. */
export const { get, post } = routesOf<RouteDeps, MemberRight | 'person' | 'everybody'>((path, allows) => ({
  url: allows === 'person' || allows === 'everybody' ? path : `/partners/:partner_id${path}`,
  config: { allows },
}));

/** The same actor as in the bot: one person, whichever way they came. */
export const auditContextOf = (deps: PortalDeps, { person }: FastifyRequest): AuditContext =>
  auditContextOfPerson(deps, person);
