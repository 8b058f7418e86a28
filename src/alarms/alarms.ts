import { type Clock, instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { type Queryable, transaction } from '../db/pool.ts';

/** What people must look at, and what it is about; one of a kind and subject is open at a time. */
export interface Alarm {
  kind: string;
  subject: string;
  detail: string;
}

/** The one place where alarms go: a row for the table, a line in the log when it is new, and from the table the metric. */
export interface Alarms {
  /** Whether it is on record; the log gets it in any case. */
  raise(alarm: Alarm): Promise<boolean>;
  clear(kind: string, subject: string): Promise<void>;
  /** All that is wrong with the subject now: these are raised, and whatever else was open about it is over. */
  report(subject: string, alarms: Omit<Alarm, 'subject'>[]): Promise<void>;
}

interface AlarmDeps {
  db: Queryable;
  clock: Clock;
  log: { warn(details: object, message: string): void };
}

/** None of these throws: whoever raises an alarm has other things to do, and the log gets it in any case. */
export function createAlarms(deps: AlarmDeps): Alarms {
  const { db, clock, log } = deps;
  const loudly = (attempt: Promise<unknown>) =>
    attempt.then(
      () => {},
      err => log.warn({ err }, 'an alarm could not be put on record'),
    );
  const raise = (alarm: Alarm) =>
    insert(db, clock, alarm).then(
      isNew => {
        if (isNew) log.warn(alarm, 'alarm');
        return true;
      },
      err => {
        log.warn({ ...alarm, err }, 'alarm, which could not be put on record');
        return false;
      },
    );
  return {
    raise,
    clear: (kind, subject) => loudly(clear(db, clock, subject, 'kind = ANY ($4)', [kind])),
    report: async (subject, alarms) => {
      await Promise.all(alarms.map(alarm => raise({ ...alarm, subject })));
      const kinds = alarms.map(({ kind }) => kind);
      await loudly(clear(db, clock, subject, 'kind <> ALL ($4)', kinds));
    },
  };
}

async function insert(db: Queryable, clock: Clock, { kind, subject, detail }: Alarm): Promise<boolean> {
  const { rows } = await db.query<{ times: number }>({
    text: `INSERT INTO alarms AS a (kind, subject, detail, first_at, last_at) VALUES ($1, $2, $3, $4, $4)
           ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
             DO UPDATE SET detail = excluded.detail, last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1
           RETURNING times`,
    values: [kind, subject, detail, instantOf(clock)],
  });
  return rows[0]!.times === 1;
}

const itself = 'kopeck';

const clear = (db: Queryable, clock: Clock, subject: string, which: string, kinds: string[]) =>
  db.query({
    text: `UPDATE alarms SET cleared_at = $2, cleared_by = $3
            WHERE cleared_at IS NULL AND subject = $1 AND ${which}`,
    values: [subject, instantOf(clock), itself, kinds],
  });

export interface KnownAlarm extends Alarm {
  alarmId: bigint;
  firstAt: Date;
  lastAt: Date;
  times: number;
  clearedAt: Date | null;
  clearedBy: string | null;
}

const selectAlarms = `SELECT id AS "alarmId", kind, subject, detail, first_at AS "firstAt", last_at AS "lastAt", times,
                             cleared_at AS "clearedAt", cleared_by AS "clearedBy" FROM alarms`;

/** Newest first; the open ones, or also the last that are over. */
export async function listAlarms(db: Queryable, options: { cleared: boolean }): Promise<KnownAlarm[]> {
  const { rows } = await db.query<KnownAlarm>({
    text: `${selectAlarms} WHERE cleared_at IS NULL OR $1 ORDER BY id DESC LIMIT 1000`,
    values: [options.cleared],
  });
  return rows;
}

/** An operator has seen to it. */
export function clearAlarm(audit: AuditContext, alarmId: bigint): Promise<'cleared' | 'no_alarm'> {
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

/** Whoever changes what it was about ends all that is open about it, in the same transaction. */
export async function endAlarms(
  tx: Queryable,
  { clock, actor }: AuditContext,
  subject: string,
): Promise<void> {
  await tx.query({
    text: 'UPDATE alarms SET cleared_at = $2, cleared_by = $3 WHERE subject = $1 AND cleared_at IS NULL',
    values: [subject, instantOf(clock), actor],
  });
}

/** How many are open, by kind; for whoever watches from outside. */
export async function countOpenAlarms(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await db.query<{ kind: string; count: number }>({
    text: 'SELECT kind, count(*)::int AS count FROM alarms WHERE cleared_at IS NULL GROUP BY kind',
  });
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}
