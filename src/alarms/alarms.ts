import { type Clock, instantOf } from '../base/clock.ts';
import type { Queryable } from '../db/postgres/index.ts';

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

/** Who has cleared an alarm that the service itself found to be over. */
export const clearedByService = 'kopeck';

const clear = (db: Queryable, clock: Clock, subject: string, which: string, kinds: string[]) =>
  db.query({
    text: `UPDATE alarms SET cleared_at = $2, cleared_by = $3
            WHERE cleared_at IS NULL AND subject = $1 AND ${which}`,
    values: [subject, instantOf(clock), clearedByService, kinds],
  });
