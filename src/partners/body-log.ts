import { dayMs, hourMs, instantOf } from '../base/clock.ts';
import { type Id, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findValue, type Queryable, transaction } from '../db/postgres/index.ts';
import { lockPartner } from './partners.ts';

/** For how long bodies are logged before somebody must ask again. */
const durationsMs = { off: 0, hour: hourMs, day: dayMs, week: 7 * dayMs };
type Duration = keyof typeof durationsMs;
export const bodyLogDurations = Object.keys(durationsMs) as Duration[];

/** Until when bodies of the partner's requests are logged, or were; null: never. */
export const findBodyLog = async (db: Queryable, partnerId: Id<'prt'>): Promise<Date | null> =>
  (await findValue<Date | null>(db, {
    text: 'SELECT bodies_logged_until FROM partners WHERE id = $1',
    values: [uuidFromId(partnerId)],
  })) ?? null;

/** To end what has ended changes nothing and writes no audit record. */
export const setBodyLog = (
  audit: AuditContext,
  partnerId: Id<'prt'>,
  duration: Duration,
): Promise<Date | null> =>
  transaction(audit.pool, async tx => {
    await lockPartner(tx, partnerId);
    const before = await findBodyLog(tx, partnerId);
    const now = instantOf(audit.clock);
    if (duration === 'off' && !(before && before > now)) return before;
    const until = new Date(now.getTime() + durationsMs[duration]);
    await tx.query({
      text: 'UPDATE partners SET bodies_logged_until = $2 WHERE id = $1',
      values: [uuidFromId(partnerId), until],
    });
    await recordChange(tx, audit, {
      action: 'partner.log_bodies',
      subject: partnerId,
      before: { until: before?.toISOString() ?? null },
      after: { until: until.toISOString() },
    });
    return until;
  });
