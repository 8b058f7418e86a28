import { type Clock, systemClock } from '../../base/clock.ts';
import { addSample, type ClockEstimate, remoteTime, uncertaintyAt } from '../../base/clock-estimate.ts';
import type { Queryable } from './pool.ts';
import { readRow } from './reads.ts';

/**
 * The database's time, in a process that does not ask for it each time: estimated from samples, and carried forward by the
 * monotonic clock of this machine. So all processes stamp with one clock, and a wrong or jumping clock of a machine
 * changes nothing that is stored.
 */
export type DatabaseClock = Awaited<ReturnType<typeof openDatabaseClock>>;

/** Sends one statement that reads the database's clock while it runs, and returns its row. */
export type Measure = <Row extends ClockRow>(send: () => Promise<Row>) => Promise<Row>;

interface ClockRow {
  nowMs: number;
}

export type ClockOffset = ReturnType<DatabaseClock['offset']>;

/** Whether the difference is certainly above the limit. */
export const exceeds = ({ ms, uncertaintyMs }: ClockOffset, limitMs: number) =>
  Math.abs(ms) - uncertaintyMs > limitMs;

export const describeOffset = ({ ms }: ClockOffset) =>
  `the clock of this machine is ${Math.abs(ms / 1_000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'} the database's`;

/** The first sample may have waited for a connection. */
const firstSamples = 5;
const goodEnoughMs = 10;

/** Measured before it is returned, so it never shows a time of this machine. */
export async function openDatabaseClock(db: Queryable, machine: Clock = systemClock) {
  let estimate: ClockEstimate | undefined;
  const measure: Measure = async send => {
    const sentMs = machine.monotonicMs();
    const row = await send();
    estimate = addSample(estimate, { sentMs, receivedMs: machine.monotonicMs(), remoteMs: row.nowMs });
    return row;
  };
  await measure(() => readClock(db));

  const nowMs = () => Math.round(remoteTime(estimate!, machine.monotonicMs()));
  const uncertaintyMs = () => uncertaintyAt(estimate!, machine.monotonicMs());
  const clock = {
    nowMs,
    monotonicMs: machine.monotonicMs,
    sleep: machine.sleep,
    timer: machine.timer,
    /** Takes a sample from what a statement answers; the heartbeat does it every second. */
    measure,
    /** How far `nowMs` may be wrong, in either direction. */
    uncertaintyMs,
    /** How the clock of this machine differs from the database's. Positive: the machine is ahead. */
    offset: () => ({ ms: machine.nowMs() - nowMs(), uncertaintyMs: uncertaintyMs() }),
  };
  for (let nth = 1; nth < firstSamples && clock.uncertaintyMs() > goodEnoughMs; nth++)
    await measure(() => readClock(db));
  return clock;
}

/** The database's time at the moment at which the statement reads it. */
export const clockColumn = '(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"';

export const readClock = (db: Queryable) =>
  readRow<ClockRow>(db, { name: 'database clock', text: `SELECT ${clockColumn}` });
