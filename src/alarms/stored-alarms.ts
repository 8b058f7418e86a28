import { type Clock, instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { type Queryable, transaction } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';
import type { DatabaseGauge } from '../telemetry/index.ts';
import type { Alarm } from './alarms.ts';

export interface StoredAlarm extends Alarm {
  alarmId: number;
  firstAt: Date;
  lastAt: Date;
  times: number;
  clearedAt: Date | null;
  clearedBy: string | null;
}

const columns = `id AS "alarmId", kind, subject, detail, first_at AS "firstAt", last_at AS "lastAt", times,
                 cleared_at AS "clearedAt", cleared_by AS "clearedBy"`;

/** The column is a bigint; the number of alarms fits a JavaScript number. */
type AlarmColumns = Omit<StoredAlarm, 'alarmId'> & { alarmId: bigint };
const fromColumns = (row: AlarmColumns): StoredAlarm => ({ ...row, alarmId: Number(row.alarmId) });

export type AlarmObject = ReturnType<typeof alarmObject>;

/** An alarm as JSON, the same for the console and the command line. */
export const alarmObject = (alarm: StoredAlarm) => ({
  alarm_id: alarm.alarmId,
  kind: alarm.kind,
  subject: alarm.subject,
  detail: alarm.detail,
  first_at: alarm.firstAt.toISOString(),
  last_at: alarm.lastAt.toISOString(),
  times: alarm.times,
  cleared_at: alarm.clearedAt?.toISOString() ?? null,
  cleared_by: alarm.clearedBy,
});

/** The id of an alarm in a URL or on a button; undefined if it is not a number. */
export const parseAlarmId = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

/** Newest first; the open ones, or also the last that were cleared. */
export async function listAlarms(db: Queryable, options: { cleared: boolean }): Promise<StoredAlarm[]> {
  const { rows } = await db.query<AlarmColumns>({
    text: `SELECT ${columns} FROM alarms WHERE cleared_at IS NULL OR $1 ORDER BY id DESC LIMIT 1000`,
    values: [options.cleared],
  });
  return rows.map(fromColumns);
}

/** What alarms of this kind are open about. */
export async function listOpenSubjects(db: Queryable, kind: string): Promise<string[]> {
  const { rows } = await db.query<Pick<Alarm, 'subject'>>({
    text: 'SELECT subject FROM alarms WHERE kind = $1 AND cleared_at IS NULL',
    values: [kind],
  });
  return rows.map(({ subject }) => subject);
}

/** Alarms of which staff has not been notified yet; they count as notified from now on. */
export async function takeNewAlarms(tx: Queryable, clock: Clock): Promise<StoredAlarm[]> {
  const { rows } = await tx.query<AlarmColumns>({
    text: `UPDATE alarms SET sent_at = $1 WHERE sent_at IS NULL RETURNING ${columns}`,
    values: [instantOf(clock)],
  });
  return rows.map(fromColumns);
}

/** An operator has dealt with the alarm. */
export function clearAlarm(audit: AuditContext, alarmId: number): Promise<'cleared' | 'no_alarm'> {
  return transaction(audit.pool, async tx => {
    const { rows } = await tx.query<Alarm>({
      text: `UPDATE alarms SET cleared_at = $2, cleared_by = $3 WHERE id = $1 AND cleared_at IS NULL
             RETURNING kind, subject`,
      values: [alarmId, instantOf(audit.clock), audit.actor],
    });
    if (!rows[0]) return 'no_alarm';
    await recordChange(tx, audit, { action: 'alarm.clear', subject: `${alarmId}`, after: rows[0] });
    return 'cleared';
  });
}

/** Clears all open alarms of a subject, in the transaction of the change that ends their cause. */
export async function clearAlarmsOf(
  tx: Queryable,
  { clock, actor }: AuditContext,
  subject: string,
): Promise<void> {
  await tx.query({
    text: 'UPDATE alarms SET cleared_at = $2, cleared_by = $3 WHERE subject = $1 AND cleared_at IS NULL',
    values: [subject, instantOf(clock), actor],
  });
}

export const alarmGauges: DatabaseGauge[] = [
  {
    name: 'kopeck_alarms_open',
    help: 'Open alarms',
    labels: ['kind'],
    sql: 'SELECT ARRAY[kind], count(*) FROM alarms WHERE cleared_at IS NULL GROUP BY kind',
  },
];

/** Open alarms stay, however old. */
export const pruneAlarms = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'alarms', since: 'cleared_at', keptDays: 365 });
