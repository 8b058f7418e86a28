import { afterAll, expect, test } from 'vitest';
import { runRound } from '../faults/run.ts';
import { createWorld } from '../faults/world.ts';
import { createRandom } from '../helpers/random.ts';
import { killAgainAndAgain } from './kill-loop.ts';

const world = await createWorld();
afterAll(() => world.close());

test('services that are killed at random moments under load do no harm', async () => {
  const { findings, faults } = await runRound(
    world,
    createRandom(1),
    killAgainAndAgain(kills => kills === 4),
  );
  expect(findings).toEqual([]);
  expect(faults.get('service killed')).toBe(4);
}, 180_000);
