/** A program, started by `guard.ts`: stops the server PID in the folder DIR as soon as nobody uses it. */
import { systemClock } from '../../base/clock.ts';
import { findServer } from './cluster.ts';
import { stopIfUnused } from './server.ts';

/** Others may go on to use it for days. */
const retryMs = 2_000;

const [pid, dir] = process.argv.slice(2) as [string, string];
// Another one has taken its place if the number differs: that has a guard of its own.
while (findServer({ dir })?.pid === Number(pid)) {
  await stopIfUnused({ dir }).catch(() => {});
  await systemClock.sleep(retryMs);
}
