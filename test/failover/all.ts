import type { DatabaseServer } from '../faults/database-server.ts';
import type { Load } from '../faults/load.ts';
import type { Program } from '../faults/programs.ts';
import type { Round } from '../faults/round.ts';
import { runRound } from '../faults/run.ts';
import { createWorld } from '../faults/world.ts';
import { createRandom } from '../helpers/random.ts';
import { createCopiedServer, startCopy } from './copy.ts';
import { createPatroniCluster, missingPrograms } from './patroni-cluster.ts';
import { createReplicatedServers } from './replicated-servers.ts';
import {
  freezePrimary,
  killRecovering,
  loseOfCluster,
  promoteLagging,
  readOnlyServer,
  splitBrain,
} from './scenarios.ts';

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
