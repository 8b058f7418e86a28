import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../helpers/random.ts';
import { cutDatabase, freezeDatabase, killDatabase } from './database-nemeses.ts';
import { freezeService } from './process-nemeses.ts';
import { runRound } from './run.ts';
import { createWorld } from './world.ts';

const world = await createWorld();
afterAll(() => world.close());

test('no payment is lost, doubled or left over when the database is killed under load', async () => {
  const round = await runRound(world, createRandom(1), killDatabase);
  expect(round.findings).toEqual([]);
});

test('a frozen database leads to 503 at once, and payments continue when it wakes', async () => {
  const round = await runRound(world, createRandom(2), freezeDatabase);
  expect(round.findings).toEqual([]);
});

test('a commit whose answer is lost is found by its key, and one that never arrived is not invented', async () => {
  const round = await runRound(world, createRandom(3), cutDatabase);
  expect(round.findings).toEqual([]);
});

test('a frozen process that lost its connections and its payments to another does no harm when it wakes', async () => {
  const round = await runRound(world, createRandom(7), freezeService);
  expect(round.findings).toEqual([]);
});
