import { listMemberships, type Person, type PortalSession, rightsOfRole } from '../../partners/index.ts';
import { sessionTimes } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';

/** A person as pages show them, with their teams as they are now. */
export async function identityOf(deps: RouteDeps, { userId, name }: Person) {
  const memberships = await listMemberships(deps.db, userId);
  return {
    person: { user_id: `${userId}`, name },
    partners: memberships.map(({ partner, role }) => ({
      partner_id: partner.partnerId,
      name: partner.name,
      role,
      rights: rightsOfRole(role),
      is_suspended: partner.suspended,
      is_live_approved: partner.liveApproved,
      time_zone: partner.timeZone,
    })),
  };
}

/** The session as pages get it. */
export const sessionObject = async (deps: RouteDeps, token: string, person: PortalSession) => ({
  ...(await identityOf(deps, person)),
  ...sessionTimes(deps, 'portal', token, person),
});
