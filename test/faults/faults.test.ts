import { afterAll, expect, test } from 'vitest';
import { createRandom } from '../helpers/random.ts';
import { cutDatabase, killDatabase } from './database-nemeses.ts';
import { cutAndStallGateway } from './gateway-nemesis.ts';
import { killAgainAndAgain } from './kill-loop.ts';
import { freezeService, killService, terminateService } from './process-nemeses.ts';
import { runRound } from './run.ts';
import { createWorld } from './world.ts';

const world = await createWorld();
afterAll(() => world.close());

/**
 * Of each kind of fault one. Nothing here depends on the machine's speed; `npm run faults` also checks how soon the service
 * answers and recovers, and has faults that take long: a frozen database, a gateway that drips or is gone.
 */
test.for([
  { title: 'no payment is lost, doubled or left over when the database is killed', nemesis: killDatabase },
  { title: 'a commit whose answer is lost is found by its key, and none is invented', nemesis: cutDatabase },
  { title: 'a gateway that cuts and stalls loses no payment', nemesis: cutAndStallGateway },
  { title: 'the payments of a killed process are finished by another', nemesis: killService },
  { title: 'graceful shutdown answers waiting requests and hands over the rest', nemesis: terminateService },
  {
    title: 'a frozen process whose payments another took over does no harm when it wakes',
    nemesis: freezeService,
  },
  {
    title: 'services that are killed at random moments under load do no harm',
    nemesis: killAgainAndAgain(4),
  },
])('$title', async ({ nemesis }) => {
  const databaseIsWhole = nemesis === cutAndStallGateway;
  const round = await runRound(world, createRandom(1), nemesis, { databaseIsWhole });
  expect(round.findings).toEqual([]);
});
