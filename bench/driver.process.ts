/** Load generator: reads a plan from stdin, runs it, and prints counts and latencies as JSON. */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad } from './driver/load.ts';
import type { DriverReport, Plan, Window } from './driver/plan.ts';
import { createTally } from './driver/tally.ts';

const plan = JSON.parse(await text(process.stdin)) as Plan;
const tally = createTally();
const startedAtMs = Date.now();
const cpuBefore = process.cpuUsage();
const load = startLoad(plan, tally);
await sleep(plan.warmUpMs);
tally.takeWindow();
const windows: Window[] = [];
while (windows.length < plan.windows) {
  await sleep(plan.windowMs);
  windows.push(tally.takeWindow());
}
await load.stop();
const { user, system } = process.cpuUsage(cpuBefore);
const report: DriverReport = {
  startedAtMs,
  succeeded: tally.succeeded(),
  cpuMs: (user + system) / 1_000,
  windows,
};
console.log(JSON.stringify(report));
process.exit();
