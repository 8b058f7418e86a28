import { afterAll, describe, expect, test } from 'vitest';
import { runRound } from '../faults/run.ts';
import { createRandom } from '../helpers/random.ts';
import { isCitusAvailable } from './available.ts';
import { freezeWorker, killCoordinator, killReserved, killWorker, moveToNewNode } from './nemeses.ts';
import { startCitusService } from './service-world.ts';

describe.runIf(isCitusAvailable)('faults of a service on Citus', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusService();
  afterAll(() => world.close());

  test.each([
    ['a worker that is killed stops its own partners only', killWorker],
    ['a worker that hangs stops its own partners only, in bounded time', freezeWorker],
    ['a coordinator that is killed loses no payment', killCoordinator],
    ['a process that is killed after it reserved a code loses nothing', killReserved],
    ['a shard moves to a new node under load, and the old node can go', moveToNewNode],
  ])(
    '%s',
    async (_, nemesis) => {
      const round = await runRound(world, createRandom(7), nemesis(world));
      console.info(Object.fromEntries(round.longest));
      expect(round.findings).toEqual([]);
    },
    300_000,
  );
});
