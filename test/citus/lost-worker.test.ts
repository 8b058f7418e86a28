import { afterAll, describe, expect, test } from 'vitest';
import { runRound } from '../faults/run.ts';
import { createRandom } from '../helpers/random.ts';
import { isCitusAvailable } from './available.ts';
import { loseCommitsOfWorker } from './lost-worker.ts';
import { startCitusService } from './service-world.ts';

describe.runIf(isCitusAvailable)('a worker that has lost commits', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusService();
  afterAll(() => world.close());

  test('nobody pays until the orders were compared; lost payments come back, and none is paid twice', async () => {
    const round = await runRound(world, createRandom(11), loseCommitsOfWorker(world), {
      historyIsLost: true,
    });
    console.info(Object.fromEntries(round.longest), Object.fromEntries(round.faults));
    expect(round.findings).toEqual([]);
  }, 300_000);
});
