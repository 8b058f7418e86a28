import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Service } from '../helpers/cli.ts';
import { type BehaviourName, behaviours } from './behaviours.ts';
import { killed, killedTwice } from './cells.ts';
import { reachedIn } from './crash.ts';
import { type Attempt, type CrashPoints, isFinal, newAttempt, requestPayment, type World } from './world.ts';

export interface Tally {
  kills: number;
  heldAtPoints: number;
  phase: string;
}

const points = [
  ...new Set([...killed, ...killedTwice].flat().flatMap(cell => [cell.point, cell.second ?? cell.point])),
];

/** The run of one service: its payments, their crash points, and when it is killed. */
const serviceRuns = fc.record({
  payments: fc.array(
    fc.record({
      behaviour: fc.constantFrom(...(Object.keys(behaviours) as BehaviourName[])),
      customer: fc.nat(3),
      /** Half of them have a crash point. */
      point: fc.option(fc.constantFrom(...points), { freq: 2 }),
      afterMs: fc.nat(1_500),
    }),
    { minLength: 5, maxLength: 25 },
  ),
  isHolding: fc.boolean(),
  killAfterMs: fc.nat(6_000),
});

/** Runs and kills services until the time is over. Payments without a final answer are requested again in the next run. */
export async function crashAtRandom(
  world: World,
  tally: Tally,
  { seed, untilMs }: { seed: number; untilMs: number },
): Promise<void> {
  const stream = fc.sample(serviceRuns, { seed, numRuns: 1_000 });
  for (let turn = 0; Date.now() < untilMs; turn++) {
    const { payments, isHolding, killAfterMs } = stream[turn % stream.length]!;
    const open = world.attempts.filter(({ answers }) => !isFinal(answers.at(-1)));
    const held: CrashPoints = new Map();
    const hold = (attempt: Attempt, point: string | null) => {
      if (isHolding && point) held.set(attempt, point);
    };
    for (const [index, attempt] of open.entries()) hold(attempt, payments[index % payments.length]!.point);
    const asked = open.map(attempt => ({ attempt, afterMs: 0 }));
    for (const { behaviour, customer, point, afterMs } of payments) {
      const attempt = await newAttempt(world, behaviour, customer);
      asked.push({ attempt, afterMs });
      hold(attempt, point);
    }
    tally.phase = `service ${turn + 1}: ${asked.length} requests, ${held.size} of them to be held`;
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
  await requestPayment(service, attempt);
}
