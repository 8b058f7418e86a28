import { instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { transaction } from '../db/postgres/index.ts';
import { lockPartner, type Partner } from './partners.ts';

export type Decision = { outcome: 'done' | 'already_approved'; partner: Partner } | { outcome: 'no_partner' };

/** Allows live keys to a partner that signed up in the bot; a repeat changes nothing. */
export const approveLive = (audit: AuditContext, partnerId: Id<'prt'>) => decide(audit, partnerId, true);

/** The partner stays in test mode and is notified. An operator may still approve it later. */
export const refuseLive = (audit: AuditContext, partnerId: Id<'prt'>) => decide(audit, partnerId, false);

function decide(audit: AuditContext, partnerId: Id<'prt'>, approved: boolean): Promise<Decision> {
  return transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return { outcome: 'no_partner' };
    if (partner.liveApproved) return { outcome: 'already_approved', partner };
    await tx.query({
      text: 'UPDATE partners SET live_approved = $2, live_refused_at = $3 WHERE id = $1',
      values: [uuidFromId(partnerId), approved, approved ? null : instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: approved ? 'partner.approve' : 'partner.refuse',
      subject: partnerId,
      before: { live_approved: false },
      after: { live_approved: approved },
    });
    await writeNotice(tx, audit.clock, partnerId, approved ? 'live_approved' : 'live_refused');
    return { outcome: 'done', partner: { ...partner, liveApproved: approved } };
  });
}
