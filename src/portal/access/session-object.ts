import { idleEndOf } from '../../db/sessions/index.ts';
import { listMemberships, type Person, type PortalSession } from '../../partners/index.ts';
import { csrfTokenOf } from '../../web/index.ts';
import type { RouteDeps } from '../deps.ts';
import type { Identity, Session } from '../shapes.ts';

/** A person as pages show them, with their teams as they are now. */
export async function identityOf(deps: RouteDeps, { userId, name }: Person): Promise<Identity> {
  const memberships = await listMemberships(deps.db, userId);
  return {
    person: { user_id: `${userId}`, name },
    partners: memberships.map(({ partner, role }) => ({
      partner_id: partner.partnerId,
      name: partner.name,
      role,
      is_suspended: partner.suspended,
      is_live_approved: partner.liveApproved,
    })),
  };
}

/** The session as pages get it. */
export const sessionObject = async (
  deps: RouteDeps,
  token: string,
  person: PortalSession,
): Promise<Session> => ({
  ...(await identityOf(deps, person)),
  csrf_token: csrfTokenOf(deps.keyring.active(), 'portal', token),
  idle_ends_at: idleEndOf(person).toISOString(),
  ends_at: person.endsAt.toISOString(),
});
