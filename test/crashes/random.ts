import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Service } from '../helpers/cli.ts';
import { type BehaviourName, behaviours } from './behaviours.ts';
import { killed, killedTwice } from './cells.ts';
import { reachedIn } from './crash.ts';
import { type Attempt, ask, type CrashPoints, isFinal, type World, wish } from './world.ts';

export interface Tally {
  kills: number;
  heldAtPoints: number;
  phase: string;
}

const points = [
  ...new Set([...killed, ...killedTwice].flat().flatMap(cell => [cell.point, cell.second ?? cell.point])),
];

/** What happens in the life of one service: who pays what, who is held where, and when it is killed. */
const lives = fc.record({
  payments: fc.array(
    fc.record({
      behaviour: fc.constantFrom(...(Object.keys(behaviours) as BehaviourName[])),
      customer: fc.nat(3),
      /** Half of them are held somewhere. */
      point: fc.option(fc.constantFrom(...points), { freq: 2 }),
      afterMs: fc.nat(1_500),
    }),
    { minLength: 5, maxLength: 25 },
  ),
  isHolding: fc.boolean(),
  killAfterMs: fc.nat(6_000),
});

/** Until the time is over. Whatever was not answered for good is asked for again in the next life, or the one after it. */
export async function crashAtRandom(
  world: World,
  tally: Tally,
  { seed, untilMs }: { seed: number; untilMs: number },
): Promise<void> {
  const stream = fc.sample(lives, { seed, numRuns: 1_000 });
  for (let turn = 0; Date.now() < untilMs; turn++) {
    const { payments, isHolding, killAfterMs } = stream[turn % stream.length]!;
    const open = world.attempts.filter(({ told }) => !isFinal(told.at(-1)));
    const held: CrashPoints = new Map();
    const hold = (attempt: Attempt, point: string | null) => {
      if (isHolding && point) held.set(attempt, point);
    };
    for (const [index, attempt] of open.entries()) hold(attempt, payments[index % payments.length]!.point);
    const asked = open.map(attempt => ({ attempt, afterMs: 0 }));
    for (const { behaviour, customer, point, afterMs } of payments) {
      const attempt = await wish(world, behaviour, customer);
      asked.push({ attempt, afterMs });
      hold(attempt, point);
    }
    tally.phase = `life ${turn + 1}: ${asked.length} requests, ${held.size} of them to be held`;
    const service = await world.start(held);
    for (const { attempt, afterMs } of asked) void askLater(service, attempt, afterMs);
    await sleep(killAfterMs);
    tally.heldAtPoints += reachedIn(service).size;
    await service.stop('SIGKILL');
    tally.kills += 1;
  }
}

async function askLater(service: Service, attempt: Attempt, afterMs: number): Promise<void> {
  await sleep(afterMs);
  await ask(service, attempt);
}
