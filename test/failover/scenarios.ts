import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from '../faults/load.ts';
import { type Program, until } from '../faults/programs.ts';
import { check, count, limit, type Round } from '../faults/round.ts';
import {
  answeredBetween,
  checkRepeats,
  currentIncarnation,
  noteGap,
  repeatAll,
  restartNode,
  startNodes,
  untilOpen,
  untilReady,
} from './nodes.ts';
import type { PatroniCluster } from './patroni-cluster.ts';
import { ask, type ReplicatedServers } from './replicated-servers.ts';

type OnReplicated = (servers: ReplicatedServers, round: Round, load: Load) => Promise<Program[]>;

/** Payments that succeed before a fault begins, and those that are lost with it. */
const warmUp = 30;
const lostAtLeast = 30;

/** The standby lags; the primary dies, and the standby takes its place without the last commits. */
async function loseCommits(servers: ReplicatedServers, round: Round, load: Load) {
  await load.succeeds(warmUp);
  await servers.stopReplication();
  const fromMs = performance.now();
  await load.succeeds(lostAtLeast);
  await servers.primary.kill();
  const killedMs = performance.now();
  count(round, 'primary killed');
  const lost = answeredBetween(round, fromMs, killedMs);
  await servers.promote();
  servers.leadTo(servers.standby);
  count(round, 'lagging standby promoted');
  return { lost, killedMs };
}

/** Every payment that partners know must be brought back before a new one is accepted. */
export const promoteLagging: OnReplicated = async (servers, round, load) => {
  const nodes = await startNodes(round, load);
  const { lost, killedMs } = await loseCommits(servers, round, load);
  await until('the service recovers', async () => (await currentIncarnation(round))?.number === 2);
  await repeatAll(round, nodes, lost);
  await finish(round, load, nodes, lost, killedMs);
  return nodes;
};

async function finish(
  round: Round,
  load: Load,
  nodes: Program[],
  lost: Parameters<typeof repeatAll>[2],
  sinceMs: number,
): Promise<void> {
  const { recovered } = await untilOpen(round, 2);
  count(round, 'payments answered', lost.length);
  count(round, 'payments rebuilt', recovered);
  await untilReady(nodes);
  await load.succeeds();
  await checkRepeats(round, nodes, lost);
  await noteGap(round, sinceMs);
}

/** All processes are killed while they recover, and so are those that follow them. */
export const killRecovering: OnReplicated = async (servers, round, load) => {
  let nodes = await startNodes(round, load);
  const { lost, killedMs } = await loseCommits(servers, round, load);
  for (const isFar of [false, true]) {
    await until('the service recovers', async () => {
      const incarnation = await currentIncarnation(round);
      return incarnation?.number === 2 && (!isFar || incarnation.recovered > 0);
    });
    await Promise.all(nodes.map(node => node.stop('SIGKILL')));
    count(round, 'recovering processes killed', nodes.length);
    check(round, !(await currentIncarnation(round))?.isOpen, 'the service opened before it was killed');
    nodes = await Promise.all(nodes.map((node, nth) => restartNode(round, node, nth + 1)));
    load.call(...nodes);
  }
  await finish(round, load, nodes, lost, killedMs);
  return nodes;
};

const detectWithinMs = 5_000;

/** Old sessions stay with the old primary, which goes on answering, while new connections reach the new one. */
export const splitBrain: OnReplicated = async (servers, round, load) => {
  const nodes = await startNodes(round, load);
  await load.succeeds(warmUp);
  await servers.promote();
  servers.leadTo(servers.standby);
  count(round, 'split brain');
  const splitMs = performance.now();
  const { rows } = await ask(servers.primary, 'SELECT clock_timestamp() AS at');
  // Asked there: the sessions of the checks stay with the old primary too.
  await until('the new history is open', async () => {
    const open = 'SELECT FROM incarnations WHERE number = 2 AND opened_at IS NOT NULL';
    return (await ask(servers.standby, open)).rows.length === 1;
  });

  const { rows: last } = await ask(
    servers.primary,
    `SELECT count(*)::int AS payments, extract(epoch FROM max(created_at) - $1)::float8 * 1000 AS ms
       FROM payments WHERE created_at > $1`,
    [rows[0].at],
  );
  limit(round, 'payments accepted on the old history for', last[0].ms ?? 0, detectWithinMs);
  await servers.primary.kill();
  const answered = answeredBetween(round, splitMs, splitMs + detectWithinMs);
  await finish(round, load, nodes, answered, splitMs);
  return nodes;
};

const readOnlyMs = 6_000;
/** As docs/operations/high-availability.md says. */
const notReadyWithinMs = 2_000;
/** Connecting to the read-only server, asking it and giving up, on a busy machine; less than a connection (5 s) may take. */
const refusedWithinMs = 4_500;

/** The address leads to a server that only reads, and later back to the primary: it is the same history. */
export const readOnlyServer: OnReplicated = async (servers, round, load) => {
  const nodes = await startNodes(round, load);
  await load.succeeds(warmUp);
  servers.leadTo(servers.standby);
  servers.cutSessions();
  count(round, 'led to a read-only server');
  const sinceMs = performance.now();
  await Promise.all(
    nodes.map(async ({ address }) => {
      const isNotReady = () =>
        fetch(`${address}/readyz`).then(
          ({ status }) => status === 503,
          // The process that got the connection has left.
          () => false,
        );
      const afterMs = await until('/readyz says 503', isNotReady);
      limit(round, '/readyz says 503 after', afterMs, notReadyWithinMs);
    }),
  );
  const knownMs = performance.now();
  await sleep(readOnlyMs);
  const backMs = performance.now();
  servers.leadTo(servers.primary);
  servers.cutSessions();
  await load.succeeds();
  for (const { what, startedMs, endedMs, result } of round.calls) {
    if (what !== 'pay' || startedMs < knownMs || startedMs > backMs) continue;
    const isRefused = endedMs > backMs || ('status' in result && result.status === 503);
    check(round, isRefused, `a read-only server led to ${JSON.stringify(result)}`);
    const tookMs = Math.min(endedMs, backMs) - startedMs;
    limit(round, 'a refusal', tookMs, refusedWithinMs);
  }
  check(round, (await currentIncarnation(round))?.number === 1, 'the same history became another one');
  await noteGap(round, sinceMs);
  return nodes;
};

const warmUpOfCluster = 50;
const justBeforeMs = 2_000;
/** An outage is over when nothing has failed for so long. */
const quietMs = 12_000;

/** The primary is lost, and Patroni promotes the synchronous standby: it has everything. */
export const loseOfCluster =
  (what: 'server' | 'machine') =>
  async (cluster: PatroniCluster, round: Round, load: Load): Promise<Program[]> => {
    const nodes = await startNodes(round, load);
    await load.succeeds(warmUpOfCluster);
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
  await load.succeeds(warmUpOfCluster);
  const sinceMs = performance.now();
  round.atTheEnd.push(cluster.resume);
  cluster.freeze();
  count(round, 'primary frozen');
  await sleep(frozenMs);
  cluster.resume();
  await untilOpen(round, 2);
  await untilReady(nodes);
  await load.succeeds(warmUpOfCluster);
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
