import { addDays, dayIn, startOfDay } from '../../base/calendar.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { writeNotice } from '../../db/notices/index.ts';
import { findValue, type Queryable, readRows, transaction } from '../../db/postgres/index.ts';

/** In the morning of the first day of the next month. */
const hourOfDay = 9;
const partnersAtOnce = 100;

/** The first day of the month of a day. */
const monthOf = (day: string) => `${day.slice(0, 7)}-01`;
/** The first day of the month after a month. */
const nextMonth = (month: string) => monthOf(addDays(month, 31));
/** The last day of a month. */
export const lastDayOf = (month: string) => addDays(nextMonth(month), -1);

const dueAt = (timeZone: string, month: string) =>
  new Date(startOfDay(timeZone, nextMonth(month)).getTime() + hourOfDay * 3_600_000);

export const getsMonthlyReport = async (db: Queryable, partnerId: Id<'prt'>): Promise<boolean> =>
  (await findValue<number>(db, {
    text: 'SELECT 1 FROM monthly_reports WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  })) !== undefined;

/** The first report is that of the current month. A repeat changes nothing and writes no audit record. */
export const setMonthlyReport = (
  audit: AuditContext,
  { partnerId, timeZone }: { partnerId: Id<'prt'>; timeZone: string },
  isOn: boolean,
): Promise<void> =>
  transaction(audit.pool, async tx => {
    const month = monthOf(dayIn(timeZone, audit.clock.nowMs()));
    const { rowCount } = isOn
      ? await tx.query({
          text: `INSERT INTO monthly_reports (partner_id, month, due_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
          values: [uuidFromId(partnerId), month, dueAt(timeZone, month)],
        })
      : await tx.query({
          text: 'DELETE FROM monthly_reports WHERE partner_id = $1',
          values: [uuidFromId(partnerId)],
        });
    if (rowCount === 0) return;
    await recordChange(tx, audit, {
      action: 'partner.monthly_report',
      subject: partnerId,
      before: { is_on: !isOn },
      after: { is_on: isOn },
    });
  });

/**
 * Writes a notice for each partner whose month is over, and moves on to the next month in the same transaction: so each month
 * is announced once. Of several months that ended meanwhile the last one is reported.
 */
export async function noticeFinishedMonths(tx: Queryable, clock: Clock): Promise<void> {
  const due = await readRows<{ partner_id: string; time_zone: string; month: string }>(tx, {
    text: `SELECT m.partner_id, p.time_zone, m.month::text FROM monthly_reports m JOIN partners p ON p.id = m.partner_id
            WHERE m.due_at <= $1 ORDER BY m.due_at LIMIT ${partnersAtOnce} FOR UPDATE OF m SKIP LOCKED`,
    values: [instantOf(clock)],
  });
  for (const { partner_id, time_zone, month } of due) {
    const current = monthOf(dayIn(time_zone, clock.nowMs()));
    // Its time zone may have changed since: the month may not be over there.
    const isOver = month < current;
    const next = isOver ? current : month;
    if (isOver) await announce(tx, clock, partner_id, monthOf(addDays(current, -1)));
    await tx.query({
      text: 'UPDATE monthly_reports SET month = $2, due_at = $3 WHERE partner_id = $1',
      values: [partner_id, next, dueAt(time_zone, next)],
    });
  }
}

/** To the owners by the bot, and to confirmed addresses by mail. */
async function announce(tx: Queryable, clock: Clock, partnerUuid: string, month: string): Promise<void> {
  await writeNotice(tx, clock, idFromUuid('prt', partnerUuid), 'monthly_report', { month });
  await tx.query({
    text: `INSERT INTO report_mails (partner_id, address, month, due_at)
             SELECT partner_id, address, $2, $3 FROM report_addresses WHERE partner_id = $1 AND code IS NULL`,
    values: [partnerUuid, month, instantOf(clock)],
  });
}
