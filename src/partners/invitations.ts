import { createHash, randomBytes } from 'node:crypto';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { findRow, type Queryable, transaction } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';
import type { MemberRole } from './member-rights.ts';
import { addMember, listMembers, maxMembers, type Person } from './members.ts';
import { findPartner, lockPartner, type Partner } from './partners.ts';

const validMs = 24 * 3_600_000;
const tokenBytes = 24;
const tokenPattern = /^[\w-]{32}$/;

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** The token adds one person to the team, once and within a day. Only its hash is stored. */
export const invite = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  /** Null: an operator. */
  madeBy: bigint | null,
  role: MemberRole,
): Promise<string> =>
  transaction(audit.pool, async tx => {
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

/** An owner's invitation is valid only while they are an owner: a removed owner leaves no usable invitation behind. */
const selectOpenInvitation = `SELECT i.partner_id, i.role FROM invitations i
                    LEFT JOIN members m
                      ON m.partner_id = i.partner_id AND m.user_id = i.made_by AND m.role = 'owner'
                   WHERE i.hash = $1 AND i.used_at IS NULL AND i.expires_at > $2
                     AND (i.made_by IS NULL OR m.user_id IS NOT NULL)`;

async function findOpenInvitation(db: Queryable, { clock }: AuditContext, token: string) {
  const row = await findRow<{ partner_id: string; role: MemberRole }>(db, {
    text: selectOpenInvitation,
    values: [hashOf(token), instantOf(clock)],
  });
  const partner = row && (await findPartner(db, idFromUuid('prt', row.partner_id)));
  return partner && { partner, role: row.role };
}

type Acceptance =
  | { outcome: 'joined' | 'already_member' | 'team_full'; partner: Partner }
  | { outcome: 'no_invitation' };

/** A person who is a member already keeps their role. Then, and when the team is full, the invitation stays usable. */
export const acceptInvitation = (audit: AuditContext, token: string, person: Person): Promise<Acceptance> =>
  transaction(audit.pool, async tx => {
    const seen = tokenPattern.test(token) ? await findOpenInvitation(tx, audit, token) : undefined;
    if (!seen) return { outcome: 'no_invitation' };
    const { partnerId } = seen.partner;
    await lockPartner(tx, partnerId);
    // Another request may have used it before this one got the lock.
    const invitation = await findOpenInvitation(tx, audit, token);
    if (!invitation) return { outcome: 'no_invitation' };
    const { partner, role } = invitation;
    const members = await listMembers(tx, partnerId);
    if (members.some(({ userId }) => userId === person.userId)) return { outcome: 'already_member', partner };
    if (members.length >= maxMembers) return { outcome: 'team_full', partner };
    await tx.query({
      text: 'UPDATE invitations SET used_by = $2, used_at = $3 WHERE hash = $1',
      values: [hashOf(token), person.userId, instantOf(audit.clock)],
    });
    await addMember(tx, audit, partnerId, person, role);
    const details = { name: person.name, role, actor: audit.actor };
    await writeNotice(tx, audit.clock, partnerId, 'member_joined', details);
    return { outcome: 'joined', partner };
  });

/** Used or not, nobody can use them any more. */
export const pruneInvitations = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'invitations', since: 'expires_at', keptDays: 30 });
