import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../helpers/random.ts';
import { spoilGateway } from './gateway-nemesis.ts';
import { killService, terminateService } from './process-nemeses.ts';
import { runRound } from './run.ts';
import { createWorld } from './world.ts';

const world = await createWorld();
afterAll(() => world.close());

test('a gateway that cuts, stalls, drips or is gone costs no payment and holds nobody up', async () => {
  const round = await runRound(world, createRandom(4), spoilGateway, { databaseIsWhole: true });
  expect(round.findings).toEqual([]);
});

test('what a killed process leaves behind is finished by another within seconds', async () => {
  const round = await runRound(world, createRandom(5), killService);
  expect(round.findings).toEqual([]);
});

test('a process that is told to leave answers whoever waits, leaves in time and hands over the rest', async () => {
  const round = await runRound(world, createRandom(6), terminateService);
  expect(round.findings).toEqual([]);
});
