import { instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange, takeDailyChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { type Queryable, readRows, transaction } from '../db/postgres/index.ts';
import type { MemberRole } from './member-rights.ts';
import * as partners from './partners.ts';

/** Identified by the Telegram user id alone; the name is only for display. */
export interface Person {
  userId: bigint;
  name: string;
}

export interface Member extends Person {
  role: MemberRole;
  joinedAt: Date;
}

/** Whatever a person does, in the bot or in the portal, is recorded as theirs. */
export const auditContextOfPerson = (
  { pool, clock }: Pick<AuditContext, 'pool' | 'clock'>,
  { userId }: Pick<Person, 'userId'>,
): AuditContext => ({ pool, clock, actor: `telegram:${userId}`, isBounded: true });

/** Enough for real use, and few enough that one person cannot flood the operators with requests. */
const maxPartnersPerPerson = 5;

/** What fits on one screen of the bot. */
export const maxMembers = 40;

/** Creates a partner for a person in the bot: test mode at once, live mode when an operator approves it. */
export const signUp = (
  audit: AuditContext,
  person: Person,
  name: string,
): Promise<
  { outcome: 'signed_up'; partner: partners.Partner } | { outcome: 'too_many' | 'too_many_today' }
> =>
  transaction(audit.pool, async tx => {
    // One sign-up at a time per person, so that the limits hold.
    await tx.query({
      text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`sign up ${person.userId}`],
    });
    const own = (await listMemberships(tx, person.userId)).filter(({ role }) => role === 'owner');
    if (own.length >= maxPartnersPerPerson) return { outcome: 'too_many' };
    if (!(await takeDailyChange(tx, audit.clock, 'sign-ups', audit.actor)))
      return { outcome: 'too_many_today' };
    const partner = await partners.addPartner(tx, audit, { name, liveApproved: false });
    await addMember(tx, audit, partner.partnerId, person, 'owner');
    return { outcome: 'signed_up', partner };
  });

export async function addMember(
  tx: Queryable,
  audit: AuditContext,
  partnerId: Id<'prt'>,
  { userId, name }: Person,
  role: MemberRole,
): Promise<void> {
  await tx.query({
    text: 'INSERT INTO members (partner_id, user_id, role, name, joined_at) VALUES ($1, $2, $3, $4, $5)',
    values: [uuidFromId(partnerId), userId, role, name, instantOf(audit.clock)],
  });
  await recordChange(tx, audit, {
    action: 'member.join',
    subject: partnerId,
    after: { user_id: userId, role },
  });
}

export const listMembers = (db: Queryable, partnerId: Id<'prt'>) =>
  readRows<Member>(db, {
    text: `SELECT user_id AS "userId", role, name, joined_at AS "joinedAt" FROM members
            WHERE partner_id = $1 ORDER BY role DESC, joined_at, user_id`,
    values: [uuidFromId(partnerId)],
  });

/** The partners of a person. Read for every action, so that a removal takes effect at once. */
export async function listMemberships(db: Queryable, userId: bigint) {
  const rows = await readRows<partners.PartnerRow & { role: MemberRole }>(db, {
    text: `${partners.selectPartners}, m.role FROM members m JOIN partners p ON p.id = m.partner_id
            WHERE m.user_id = $1 ORDER BY m.joined_at, p.id`,
    values: [userId],
  });
  return rows.map(row => ({ partner: partners.toPartner(row), role: row.role }));
}

/** Changes a member under the lock of the partner. A partner always keeps an owner: without one nobody could invite another. */
const changeMember = <Outcome>(
  audit: AuditContext,
  partnerId: Id<'prt'>,
  userId: bigint,
  change: (tx: Queryable, member: Member, isLastOwner: boolean) => Promise<Outcome>,
): Promise<Outcome | 'no_member'> =>
  transaction(audit.pool, async tx => {
    await partners.lockPartner(tx, partnerId);
    const members = await listMembers(tx, partnerId);
    const member = members.find(one => one.userId === userId);
    const owners = members.filter(({ role }) => role === 'owner').length;
    return member ? change(tx, member, member.role === 'owner' && owners === 1) : 'no_member';
  });

export const removeMember = (audit: AuditContext, partnerId: Id<'prt'>, userId: bigint) =>
  changeMember(audit, partnerId, userId, async (tx, { name, role }, isLastOwner) => {
    if (isLastOwner) return 'last_owner';
    await tx.query({
      text: 'DELETE FROM members WHERE partner_id = $1 AND user_id = $2',
      values: [uuidFromId(partnerId), userId],
    });
    await recordChange(tx, audit, {
      action: 'member.remove',
      subject: partnerId,
      before: { user_id: userId, role },
      isRemoval: true,
    });
    await writeNotice(tx, audit.clock, partnerId, 'member_removed', { name, actor: audit.actor });
    return 'removed';
  });

/** Takes effect at once, since roles are read for every action. */
export const changeRole = (audit: AuditContext, partnerId: Id<'prt'>, userId: bigint, role: MemberRole) =>
  changeMember(audit, partnerId, userId, async (tx, { name, role: before }, isLastOwner) => {
    if (before === role) return 'same_role';
    if (isLastOwner) return 'last_owner';
    await tx.query({
      text: 'UPDATE members SET role = $3 WHERE partner_id = $1 AND user_id = $2',
      values: [uuidFromId(partnerId), userId, role],
    });
    await recordChange(tx, audit, {
      action: 'member.role',
      subject: partnerId,
      before: { user_id: userId, role: before },
      after: { user_id: userId, role },
    });
    await writeNotice(tx, audit.clock, partnerId, 'member_role_changed', { name, role, actor: audit.actor });
    return 'changed';
  });
