import { parseTimeZone } from '../base/calendar.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { transaction } from '../db/postgres/index.ts';
import { lockPartner } from './partners.ts';

/** A repeat changes nothing and writes no audit record. */
export const setTimeZone = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  wanted: string,
): Promise<'done' | 'no_such_zone' | 'no_partner'> =>
  transaction(audit.pool, async tx => {
    const timeZone = parseTimeZone(wanted);
    if (timeZone === undefined) return 'no_such_zone';
    const partner = await lockPartner(tx, partnerId);
    if (!partner) return 'no_partner';
    if (partner.timeZone === timeZone) return 'done';
    await tx.query({
      text: 'UPDATE partners SET time_zone = $2 WHERE id = $1',
      values: [uuidFromId(partnerId), timeZone],
    });
    await recordChange(tx, audit, {
      action: 'partner.time_zone',
      subject: partnerId,
      before: { time_zone: partner.timeZone },
      after: { time_zone: timeZone },
    });
    return 'done';
  });
