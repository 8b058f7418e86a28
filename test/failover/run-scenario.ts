import type { DatabaseServer } from '../faults/database-server.ts';
import type { Load } from '../faults/load.ts';
import type { Program } from '../faults/program.ts';
import type { Round } from '../faults/round.ts';
import { type RoundOptions, runRound } from '../faults/run.ts';
import { createWorld } from '../faults/world.ts';
import { createRandom } from '../helpers/random.ts';

export type Scenario<Server extends DatabaseServer> = (
  server: Server,
  round: Round,
  load: Load,
) => Promise<Program[]>;

/** Runs a scenario on servers of its own, since a promotion cannot be undone. */
export async function runScenario<Server extends DatabaseServer>(
  createServer: (folder: string) => Promise<Server>,
  scenario: Scenario<Server>,
  { seed, ...options }: RoundOptions & { seed: number },
): Promise<Round> {
  let server: Server;
  const world = await createWorld(async folder => {
    server = await createServer(folder);
    return server;
  });
  try {
    return await runRound(world, createRandom(seed), (round, load) => scenario(server, round, load), options);
  } finally {
    await world.close();
  }
}
