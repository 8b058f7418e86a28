import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Id } from '../../base/ids.ts';
import { isLabel } from '../../base/label.ts';
import { invitationPrefix } from '../../bot/index.ts';
import { acceptInvitation, signUp } from '../../partners/index.ts';
import { refuse } from '../../web/index.ts';
import { readSessionToken } from '../cookie.ts';
import type { RouteDeps } from '../deps.ts';
import { auditContextOf, post } from '../route.ts';
import { sessionObject } from './session-object.ts';

const refusals = {
  no_invitation: [404, 'This invitation is used or expired, or does not exist.'],
  team_full: [409, 'The team is full.'],
} as const;

/** A partner that somebody has created or joined. */
export const withPartner = async (deps: RouteDeps, request: FastifyRequest, partnerId: Id<'prt'>) => ({
  partner_id: partnerId,
  session: await sessionObject(deps, readSessionToken(request)!, request.person),
});

/** A person creates a partner, or joins the team of one. The answer has the session with that partner. */
export const newPartnerRoutes = [
  post(
    '/new-partner',
    'person',
    { body: { name: Type.String({ maxLength: 500 }) } },
    async (request, deps) => {
      const name = request.body.name.trim();
      if (!isLabel(name)) return refuse(400, 'invalid_request', 'Enter a name of 1 to 128 characters.');
      const signedUp = await signUp(auditContextOf(deps, request), request.person, name);
      if (signedUp.outcome === 'signed_up') return withPartner(deps, request, signedUp.partner.partnerId);
      return refuse(409, signedUp.outcome, 'You have as many partners as one person can have.');
    },
  ),
  post(
    '/join',
    'person',
    { body: { invitation: Type.String({ maxLength: 500 }) } },
    async (request, deps) => {
      const token = readInvitation(request.body.invitation);
      const accepted = await acceptInvitation(auditContextOf(deps, request), token, request.person);
      if (accepted.outcome === 'joined' || accepted.outcome === 'already_member')
        return withPartner(deps, request, accepted.partner.partnerId);
      const [status, message] = refusals[accepted.outcome];
      return refuse(status, accepted.outcome, message);
    },
  ),
];

/** People paste the whole link, the command for the bot, or the token alone. */
const readInvitation = (text: string) => text.trim().split(invitationPrefix).at(-1)!;
