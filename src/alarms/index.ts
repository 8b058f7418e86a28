import { type Clock, instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findRow, type Queryable, readRows, readValue, transaction } from '../db/postgres/index.ts';
import { pruneOlder } from '../db/retention/index.ts';
import type { DatabaseGauge } from '../telemetry/index.ts';

export { pageOfAlarm } from './page.ts';
export { alarmTitles, titleOfAlarm } from './texts.ts';

/** A condition that people must look at. At most one alarm per kind and subject is open at a time. */
export interface Alarm {
  kind: string;
  subject: string;
  detail: string;
}

export type Alarms = ReturnType<typeof createAlarms>;

interface AlarmDeps {
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
}

/**
 * The one way to raise an alarm: a row in the table, from which the metric is read, and a log line when it is new. None of these functions throws: an alarm must not break the work that raises it.
 */
export function createAlarms(deps: AlarmDeps) {
  const { db, clock, log } = deps;
  const logFailure = (attempt: Promise<unknown>) =>
    attempt.then(
      () => {},
      err => log.warn({ err }, 'an alarm could not be stored'),
    );
  /** Whether the alarm was stored; it is logged in any case. */
  const raise = (alarm: Alarm) =>
    insert(db, clock, alarm).then(
      isNew => {
        if (isNew) log.warn(alarm, 'alarm');
        return true;
      },
      err => {
        log.warn({ ...alarm, err }, 'an alarm could not be stored');
        return false;
      },
    );
  return {
    raise,
    clear: (kind: string, subject: string) =>
      logFailure(clear(db, clock, subject, 'kind = ANY ($4)', [kind])),
    /** Everything that is wrong with the subject now: raises these alarms and clears its others. */
    report: async (subject: string, alarms: Omit<Alarm, 'subject'>[]) => {
      await Promise.all(alarms.map(alarm => raise({ ...alarm, subject })));
      const kinds = alarms.map(({ kind }) => kind);
      await logFailure(clear(db, clock, subject, 'kind <> ALL ($4)', kinds));
    },
  };
}

const insert = (db: Queryable, clock: Clock, { kind, subject, detail }: Alarm) =>
  readValue<boolean>(db, {
    text: `INSERT INTO alarms AS a (kind, subject, detail, first_at, last_at) VALUES ($1, $2, $3, $4, $4)
           ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
             DO UPDATE SET detail = excluded.detail, last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1
           RETURNING times = 1`,
    values: [kind, subject, detail, instantOf(clock)],
  });

/** Who has cleared an alarm that the service itself found to be over. */
export const clearedByService = 'kopeck';

const clear = (db: Queryable, clock: Clock, subject: string, which: string, kinds: string[]) =>
  db.query({
    text: `UPDATE alarms SET cleared_at = $2, cleared_by = $3
            WHERE cleared_at IS NULL AND subject = $1 AND ${which}`,
    values: [subject, instantOf(clock), clearedByService, kinds],
  });

interface StoredAlarm extends Alarm {
  alarmId: number;
  firstAt: Date;
  lastAt: Date;
  times: number;
  clearedAt: Date | null;
  clearedBy: string | null;
}

/** The column is a bigint; the number of alarms fits a JavaScript number. */
const columns = `id::float8 AS "alarmId", kind, subject, detail, first_at AS "firstAt", last_at AS "lastAt", times,
                 cleared_at AS "clearedAt", cleared_by AS "clearedBy"`;

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
export const listAlarms = (db: Queryable, options: { cleared: boolean }) =>
  readRows<StoredAlarm>(db, {
    text: `SELECT ${columns} FROM alarms WHERE cleared_at IS NULL OR $1 ORDER BY id DESC LIMIT 1000`,
    values: [options.cleared],
  });

/** An alarm must match every field that is set. */
export interface AlarmFilter {
  kind?: string | undefined;
  subject?: string | undefined;
  state?: 'open' | 'cleared' | undefined;
  /** When it was raised first. */
  from?: Date | undefined;
  before?: Date | undefined;
}

/**
 * Ids grow with the time at which alarms are raised, but for clocks that differ a little. So a period is a range of ids, and
 * a page of it is read along the primary key.
 */
const skew = "interval '1 minute'";

const conditions = {
  kind: (value: string) => `kind = ${value}`,
  subject: (value: string) => `subject = ${value}`,
  from: (value: string) => `first_at >= ${value}
    AND id > coalesce((SELECT b.id FROM alarms b WHERE b.first_at < ${value}::timestamptz - ${skew} ORDER BY b.first_at DESC LIMIT 1), 0)`,
  before: (value: string) => `first_at < ${value}
    AND id < coalesce((SELECT b.id FROM alarms b WHERE b.first_at >= ${value}::timestamptz + ${skew} ORDER BY b.first_at LIMIT 1), 9223372036854775807)`,
};

/** Open and cleared ones of a year, newest first; with `below`, those with a smaller id. */
export function findAlarms(
  db: Queryable,
  filter: AlarmFilter,
  { limit, below = Number.MAX_SAFE_INTEGER }: { limit: number; below?: number | undefined },
): Promise<StoredAlarm[]> {
  const values: unknown[] = [below, limit];
  const given = (Object.keys(conditions) as (keyof typeof conditions)[]).flatMap(name => {
    const value = filter[name];
    return value === undefined ? [] : [conditions[name](`$${values.push(value)}`)];
  });
  // Not as a value: the few open ones have an index of their own.
  if (filter.state) given.push(`cleared_at IS ${filter.state === 'open' ? '' : 'NOT '}NULL`);
  return readRows<StoredAlarm>(db, {
    text: `SELECT ${columns} FROM alarms WHERE ${['id < $1', ...given].join(' AND ')} ORDER BY id DESC LIMIT $2`,
    values,
  });
}

/** What alarms of this kind are open about. */
export async function listOpenSubjects(db: Queryable, kind: string): Promise<string[]> {
  const rows = await readRows<Pick<Alarm, 'subject'>>(db, {
    text: 'SELECT subject FROM alarms WHERE kind = $1 AND cleared_at IS NULL',
    values: [kind],
  });
  return rows.map(({ subject }) => subject);
}

/** Alarms of which staff has not been notified yet; they count as notified from now on. */
export const takeNewAlarms = (tx: Queryable, clock: Clock) =>
  readRows<StoredAlarm>(tx, {
    text: `UPDATE alarms SET sent_at = $1 WHERE sent_at IS NULL RETURNING ${columns}`,
    values: [instantOf(clock)],
  });

/** An operator has dealt with the alarm. */
export const clearAlarm = (audit: AuditContext, alarmId: number): Promise<'cleared' | 'no_alarm'> =>
  transaction(audit.pool, async tx => {
    const cleared = await findRow<Alarm>(tx, {
      text: `UPDATE alarms SET cleared_at = $2, cleared_by = $3 WHERE id = $1 AND cleared_at IS NULL
             RETURNING kind, subject`,
      values: [alarmId, instantOf(audit.clock), audit.actor],
    });
    if (!cleared) return 'no_alarm';
    await recordChange(tx, audit, { action: 'alarm.clear', subject: `${alarmId}`, after: cleared });
    return 'cleared';
  });

/** Clears all open alarms of a subject, in the transaction of the change that ends their cause. */
export const clearAlarmsOf = (tx: Queryable, { clock, actor }: AuditContext, subject: string) =>
  tx.query({
    text: 'UPDATE alarms SET cleared_at = $2, cleared_by = $3 WHERE subject = $1 AND cleared_at IS NULL',
    values: [subject, instantOf(clock), actor],
  });

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
