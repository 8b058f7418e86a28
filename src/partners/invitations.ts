import { createHash, randomBytes } from 'node:crypto';
import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { writeNotice } from '../db/notices.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { addMember, listMembers, type MemberRole, mostMembers, type Person } from './members.ts';
import { findPartner, lockPartner, type Partner } from './partners.ts';

const validMs = 24 * 3_600_000;
const tokenBytes = 24;
const tokenPattern = /^[\w-]{32}$/;

interface Invitation {
  partner: Partner;
  role: MemberRole;
}

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** The token lets one person in, once and within a day. It is in the answer and nowhere else. */
export function invite(
  audit: AuditContext,
  partnerId: Id<'prt'>,
  /** Null: an operator. */
  madeBy: bigint | null,
  role: MemberRole,
): Promise<string> {
  return transaction(audit.pool, async tx => {
    const token = randomBytes(tokenBytes).toString('base64url');
    const expiresAt = new Date(audit.clock.nowMs() + validMs);
    await tx.query({
      text: `INSERT INTO invitations (hash, partner_id, role, made_by, expires_at) VALUES ($1, $2, $3, $4, $5)`,
      values: [hashOf(token), uuidFromId(partnerId), role, madeBy, expiresAt],
    });
    await recordChange(tx, audit, {
      action: 'member.invite',
      subject: partnerId,
      after: { role, expires_at: expiresAt },
    });
    return token;
  });
}

/** An owner's invitation counts only as long as they are one: whoever is removed leaves no open door behind. */
const openOnes = `SELECT i.partner_id, i.role FROM invitations i
                    LEFT JOIN members m
                      ON m.partner_id = i.partner_id AND m.user_id = i.made_by AND m.role = 'owner'
                   WHERE i.hash = $1 AND i.used_at IS NULL AND i.expires_at > $2
                     AND (i.made_by IS NULL OR m.user_id IS NOT NULL)`;

async function findOpen(
  db: Queryable,
  { clock }: AuditContext,
  token: string,
): Promise<Invitation | undefined> {
  const { rows } = await db.query<{ partner_id: string; role: MemberRole }>({
    text: openOnes,
    values: [hashOf(token), instantOf(clock)],
  });
  const [row] = rows;
  const partner = row && (await findPartner(db, idFromUuid('prt', row.partner_id)));
  return partner && { partner, role: row.role };
}

type Acceptance =
  | { outcome: 'joined' | 'already_member' | 'team_full'; partner: Partner }
  | { outcome: 'no_invitation' };

/** Whoever is a member already keeps their role; the invitation is left to somebody else, as it is by a full team. */
export function acceptInvitation(audit: AuditContext, token: string, person: Person): Promise<Acceptance> {
  return transaction(audit.pool, async tx => {
    const seen = tokenPattern.test(token) ? await findOpen(tx, audit, token) : undefined;
    if (!seen) return { outcome: 'no_invitation' };
    const { partnerId } = seen.partner;
    await lockPartner(tx, partnerId);
    // Somebody else may have used it before the lock was ours.
    const invitation = await findOpen(tx, audit, token);
    if (!invitation) return { outcome: 'no_invitation' };
    const { partner, role } = invitation;
    const members = await listMembers(tx, partnerId);
    if (members.some(({ userId }) => userId === person.userId)) return { outcome: 'already_member', partner };
    if (members.length >= mostMembers) return { outcome: 'team_full', partner };
    await tx.query({
      text: 'UPDATE invitations SET used_by = $2, used_at = $3 WHERE hash = $1',
      values: [hashOf(token), person.userId, instantOf(audit.clock)],
    });
    await addMember(tx, audit, partnerId, person, role);
    const details = { name: person.name, role, actor: audit.actor };
    await writeNotice(tx, audit.clock, partnerId, 'member_joined', details);
    return { outcome: 'joined', partner };
  });
}
