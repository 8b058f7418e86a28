import { setTimeout as sleep } from 'node:timers/promises';
import { listAlarms } from '../../src/alarms/index.ts';
import { newOrder, pay } from '../faults/calls.ts';
import { createDatabaseServer, type DatabaseServer } from '../faults/database-server.ts';
import type { Load } from '../faults/load.ts';
import { type Program, until } from '../faults/programs.ts';
import { check, count, limit, type Round } from '../faults/round.ts';
import { runRound } from '../faults/run.ts';
import { createWorld } from '../faults/world.ts';
import { createRandom } from '../helpers/random.ts';
import { answeredBetween, checkRepeats, noteGap, untilOpen } from './nodes.ts';
import { createPatroniCluster, missingPrograms } from './patroni-cluster.ts';
import { createAddress, createReplicatedServers } from './replicated-servers.ts';
import {
  freezePrimary,
  killRecovering,
  loseOfCluster,
  promoteLagging,
  readOnlyServer,
  splitBrain,
} from './scenarios.ts';

/** A server that can be copied, and the address at which the books are compared in the end. */
async function createCopiedServer(folder: string) {
  const original = await createDatabaseServer(folder);
  const address = await createAddress(original);
  const running: DatabaseServer[] = [original];
  return {
    ...original,
    ...address,
    original,
    /** Stops the original for a moment; afterwards it and the copy run. */
    copy: async () => {
      await original.kill();
      const copy = await original.createCopy();
      running.push(copy);
      await Promise.all(running.map(server => server.start()));
      return copy;
    },
    kill: async () => {
      await address.close();
      await Promise.all(running.map(server => server.kill()));
    },
  };
}

type CopiedServer = Awaited<ReturnType<typeof createCopiedServer>>;

const warmUp = 50;
const probeEveryMs = 500;
const alarmWithinMs = 75_000;

/**
 * A copy is started beside the original, with the same bank side. It stays closed while the original goes on paying, and
 * opens, with everything that the original paid, when that one has stopped.
 */
async function startCopy(server: CopiedServer, round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  const original = await world.startService({ databasePort: server.original.port });
  load.call(original);
  await load.succeeds(warmUp);
  const sinceMs = performance.now();
  const copied = await server.copy();
  count(round, 'copy started');
  const beside = await world.startService({ databasePort: copied.port, isRestored: true });
  await load.succeeds();

  server.leadTo(copied);
  server.cutSessions();
  const alarmMs = await until('the alarm is raised', async () => {
    const { result } = await pay(round, beside, newOrder(round));
    const isRefused = 'status' in result && result.status === 503;
    check(round, isRefused, `the copy answered ${JSON.stringify(result)}`);
    await sleep(probeEveryMs);
    const alarms = await listAlarms(world.pool, { cleared: false });
    return alarms.some(({ kind }) => kind === 'foreign_orders');
  });
  limit(round, 'alarm of the copy', alarmMs, alarmWithinMs);

  const stoppedMs = performance.now();
  load.call(beside);
  await original.stop('SIGTERM');
  await untilOpen(round, 2);
  await load.succeeds();
  await noteGap(round, stoppedMs);
  const answered = answeredBetween(round, sinceMs, stoppedMs);
  count(round, 'payments answered', answered.length);
  await checkRepeats(round, [beside], answered);
  return [beside];
}

type RoundOptions = Parameters<typeof runRound>[3];
type Scenario<Server> = (server: Server, round: Round, load: Load) => Promise<Program[]>;
type Run = (seed: number, options?: RoundOptions) => Promise<Round>;

/** Runs a scenario on servers of its own, since a promotion cannot be undone. */
function on<Server extends DatabaseServer>(
  createServer: (folder: string) => Promise<Server>,
  scenario: Scenario<Server>,
  always: RoundOptions = {},
): Run {
  return async (seed, options) => {
    let server: Server;
    const world = await createWorld(async folder => {
      server = await createServer(folder);
      return server;
    });
    try {
      const nemesis = (round: Round, load: Load) => scenario(server, round, load);
      return await runRound(world, createRandom(seed), nemesis, { ...always, ...options });
    } finally {
      await world.close();
    }
  };
}

const lost = { historyIsLost: true };

export const failovers: Record<string, Run> = {
  'read-only': on(createReplicatedServers, readOnlyServer),
  'lost-commits': on(createReplicatedServers, promoteLagging, lost),
  'split-brain': on(createReplicatedServers, splitBrain, lost),
  'killed-recovery': on(createReplicatedServers, killRecovering, lost),
  copy: on(createCopiedServer, startCopy, lost),
};
if (missingPrograms.length === 0) {
  failovers['patroni-server'] = on(createPatroniCluster, loseOfCluster('server'));
  failovers['patroni-machine'] = on(createPatroniCluster, loseOfCluster('machine'));
  failovers['patroni-frozen'] = on(createPatroniCluster, freezePrimary);
}
