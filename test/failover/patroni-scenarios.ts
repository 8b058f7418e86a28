import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from '../faults/load.ts';
import type { Program } from '../faults/program.ts';
import { check, count, type Round } from '../faults/round.ts';
import { answeredBetween, checkRepeats, noteGap, startNodes, untilOpen, untilReady } from './nodes.ts';
import type { PatroniCluster } from './patroni-cluster.ts';

const warmUp = 50;
const justBeforeMs = 2_000;
/** An outage is over when nothing has failed for so long. */
const quietMs = 12_000;

/** The primary is lost, and Patroni promotes the synchronous standby: it has everything. */
export const loseOfCluster =
  (what: 'server' | 'machine') =>
  async (cluster: PatroniCluster, round: Round, load: Load): Promise<Program[]> => {
    const nodes = await startNodes(round, load);
    await load.succeeds(warmUp);
    const sinceMs = performance.now();
    await cluster.losePrimary(what);
    count(round, `${what} of the primary killed`);
    const answered = answeredBetween(round, sinceMs - justBeforeMs, performance.now());
    const { recovered } = await untilOpen(round, 2);
    await untilReady(nodes);
    await load.succeeds();
    await noteGap(round, sinceMs);
    count(round, 'payments answered', answered.length);
    count(round, 'payments rebuilt', recovered);
    await checkRepeats(round, nodes, answered);
    await sleep(quietMs);
    checkLogs(round, nodes);
    return nodes;
  };

/** Longer than it takes to promote the standby. */
const frozenMs = 30_000;

/** The primary's machine hangs for so long that it is replaced; then it goes on, and must do no harm. */
export async function freezePrimary(cluster: PatroniCluster, round: Round, load: Load): Promise<Program[]> {
  const nodes = await startNodes(round, load);
  await load.succeeds(warmUp);
  const sinceMs = performance.now();
  round.atTheEnd.push(cluster.resume);
  cluster.freeze();
  count(round, 'primary frozen');
  await sleep(frozenMs);
  cluster.resume();
  await untilOpen(round, 2);
  await untilReady(nodes);
  await load.succeeds(warmUp);
  await noteGap(round, sinceMs);
  return nodes;
}

/** A process says once that the database is gone, whatever fails because of it, until it is back or another one. */
function checkLogs(round: Round, nodes: Program[]): void {
  const silent = new Set<number>();
  for (const line of nodes.flatMap(({ output }) => output().split('\n'))) {
    if (line.includes('Reconnecting')) silent.clear();
    if (!line.startsWith('{')) continue;
    const { pid, msg, err } = JSON.parse(line) as Logged;
    check(round, err?.stack === undefined, `a stack in the log: ${line}`);
    if (msg.startsWith('the database is available again')) silent.delete(pid);
    if (!msg.startsWith('the database is not available')) continue;
    check(round, !silent.has(pid), `process ${pid} logged the outage again: ${line}`);
    silent.add(pid);
  }
}

interface Logged {
  pid: number;
  msg: string;
  err?: { stack?: string };
}
