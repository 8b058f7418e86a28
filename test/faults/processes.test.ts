import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../helpers/random.ts';
import { disturbGateway } from './gateway-nemesis.ts';
import { killService, terminateService } from './process-nemeses.ts';
import { runRound } from './run.ts';
import { createWorld } from './world.ts';

const world = await createWorld();
afterAll(() => world.close());

test('a gateway that cuts, stalls, drips or is unreachable loses no payment and blocks no request', async () => {
  const round = await runRound(world, createRandom(4), disturbGateway, { databaseIsWhole: true });
  expect(round.findings).toEqual([]);
});

test('the payments of a killed process are finished by another within seconds', async () => {
  const round = await runRound(world, createRandom(5), killService);
  expect(round.findings).toEqual([]);
});

test('graceful shutdown answers waiting requests, ends in time and hands over the rest', async () => {
  const round = await runRound(world, createRandom(6), terminateService);
  expect(round.findings).toEqual([]);
});
