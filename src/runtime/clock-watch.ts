import { hostname } from 'node:os';
import type { Alarms } from '../alarms/index.ts';
import { startBackgroundLoop } from '../base/background-loop.ts';
import { type DatabaseClock, describeOffset, exceeds } from '../db/postgres/index.ts';
import type { Cleanup } from './graceful-shutdown.ts';

const alarmAboveMs = 2_000;
/** Lower, so that a clock at the limit does not raise and clear the alarm again and again. */
const clearBelowMs = 1_000;
const checkIntervalMs = 1_000;
/** While the alarm is open, its detail follows the clock. */
const repeatIntervalMs = 60_000;

interface ClockWatchDeps {
  clock: DatabaseClock;
  alarms: Alarms;
  heartbeat: { instance: number };
}

/**
 * Raises the alarm `clock_offset` while the clock of this machine differs from the database's. What is stored does not
 * depend on it, but TLS certificates, logs and other programs do. The subject is the machine: its processes share a
 * clock, and the next one clears what a dead one has raised.
 */
export function startClockWatch({ clock, alarms, heartbeat }: ClockWatchDeps): Cleanup {
  /** Unknown at first: an earlier process may have raised it. */
  let isOff: boolean | undefined;
  let raisedMs = 0;

  async function check(): Promise<void> {
    const offset = clock.offset();
    const wasOff = isOff;
    isOff = exceeds(offset, wasOff ? clearBelowMs : alarmAboveMs);
    if (!isOff) {
      if (wasOff !== false) await alarms.clear('clock_offset', hostname());
      return;
    }
    if (wasOff && clock.monotonicMs() - raisedMs < repeatIntervalMs) return;
    const found = `Process ${heartbeat.instance} on ${hostname()}: ${describeOffset(offset)}.`;
    const detail = `${found} Synchronize it with NTP. If all machines report this, the clock of the database server is wrong.`;
    if (await alarms.raise({ kind: 'clock_offset', subject: hostname(), detail }))
      raisedMs = clock.monotonicMs();
    else isOff = wasOff;
  }

  return startBackgroundLoop({ clock, everyMs: checkIntervalMs, work: check, onError: () => {} }).stop;
}
