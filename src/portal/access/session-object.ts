import { idleEndOf } from '../../base/session-lifetime.ts';
import { listMemberships, type PortalSession } from '../../partners/index.ts';
import { csrfTokenOf } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import type { Session } from '../shapes/access.ts';

/** The session as pages get it, with the teams of the person as they are now. */
export async function sessionObject(deps: RouteDeps, token: string, person: PortalSession): Promise<Session> {
  const memberships = await listMemberships(deps.db, person.userId);
  return {
    person: { user_id: `${person.userId}`, name: person.name },
    partners: memberships.map(({ partner, role }) => ({
      partner_id: partner.partnerId,
      name: partner.name,
      role,
      is_suspended: partner.suspended,
      is_live_approved: partner.liveApproved,
    })),
    csrf_token: csrfTokenOf(deps.keyring.active(), 'portal', token),
    idle_ends_at: idleEndOf(person).toISOString(),
    ends_at: person.endsAt.toISOString(),
  };
}
