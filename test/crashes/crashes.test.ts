/**
 * A service is killed with kill -9 between any two phases of creating, settling and recovering payments, with every
 * behaviour of the bank side at once. Started again, it must bring each payment to the end that the bank has for it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../src/runtime/simulator.ts';
import type { Service } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import type { BehaviourName } from './behaviours.ts';
import { type Cell, everybody, frozen, killed, killedTwice } from './cells.ts';
import { freeze, type Held, holdAll, settle, thaw, untilBankIsDone } from './crash.ts';
import { findHarm } from './findings.ts';
import { type Attempt, type CrashPoints, createWorld, isFinal, type World, wish } from './world.ts';

/** What became of the payments of a cell. */
interface Outcome {
  reachedBy: Set<BehaviourName>;
  harm: string[];
}
type Outcomes = Map<Cell, Outcome>;
type Cast = Map<Cell, Attempt[]>;

/** Each takes the service that the one before it left, does away with it, and leaves another. */
type Run = (world: World, service: Service, cast: Cast) => Promise<{ service: Service; outcomes: Outcomes }>;

const pointsOf = (cast: Cast, read: (cell: Cell) => string): CrashPoints =>
  new Map(
    [...cast].flatMap(([cell, attempts]) => attempts.map((one): [Attempt, string] => [one, read(cell)])),
  );

/** Start-up looks after what it finds within seconds, however long the claims of the dead would last. */
const promptlyMs = 15_000;

async function bringToEnd(world: World, service: Service, cast: Cast, { reached }: Held): Promise<Outcomes> {
  const entries = [...cast].map(async ([cell, attempts]): Promise<[Cell, Outcome]> => {
    const late = await settle(world, service, attempts, promptlyMs);
    await untilBankIsDone(world, attempts);
    const reachedBy = new Set(
      attempts.filter(attempt => reached.has(attempt)).map(({ behaviour }) => behaviour),
    );
    return [cell, { reachedBy, harm: late }];
  });
  const outcomes = new Map(await Promise.all(entries));
  for (const [cell, { harm }] of outcomes) harm.push(...(await findHarm(world, cast.get(cell)!)));
  return outcomes;
}

const kill: Run = async (world, service, cast) => {
  const points = pointsOf(cast, ({ point }) => point);
  await world.arm(service, points);
  const held = await holdAll(world, service, points);
  await service.stop('SIGKILL');
  const next = await world.start();
  return { service: next, outcomes: await bringToEnd(world, next, cast, held) };
};

const killTwice: Run = async (world, service, cast) => {
  const first = pointsOf(cast, ({ point }) => point);
  await world.arm(service, first);
  await holdAll(world, service, first);
  await service.stop('SIGKILL');
  const second = pointsOf(cast, cell => cell.second!);
  const recovering = await world.start(second);
  const held = await holdAll(world, recovering, second);
  await recovering.stop('SIGKILL');
  const next = await world.start();
  return { service: next, outcomes: await bringToEnd(world, next, cast, held) };
};

const takeForDead: Run = async (world, service, cast) => {
  const points = pointsOf(cast, ({ point }) => point);
  await world.arm(service, points);
  const held = await holdAll(world, service, points);
  await freeze(world, service);
  const other = await world.start();
  const meanwhile = await bringToEnd(world, other, cast, held);

  await thaw(world, service);
  const answers = await held.answers;
  const answerTo = new Map([...points.keys()].map((attempt, index) => [attempt, answers[index]]));
  const outcomes = await bringToEnd(world, other, cast, held);
  for (const [cell, { harm }] of outcomes) {
    harm.push(...meanwhile.get(cell)!.harm);
    for (const attempt of cast.get(cell)!) {
      // In test mode ,02 is answered before it is finished; everybody else has waited for the end.
      if (attempt.behaviour !== 'test ,02' && !isFinal(answerTo.get(attempt)))
        harm.push(`${attempt.behaviour}: answered ${JSON.stringify(answerTo.get(attempt))} in the end`);
    }
  }
  await service.stop('SIGKILL');
  return { service: other, outcomes };
};

const jobs = [
  ...killedTwice.map(cells => ({ cells, run: killTwice })),
  ...frozen.map(cells => ({ cells, run: takeForDead })),
  ...killed.map(cells => ({ cells, run: kill })),
].map(job => ({ ...job, outcomes: Promise.withResolvers<Outcomes>() }));

/** So many worlds at once; in each, one job after another. */
const worldCount = 5;
const folder = newFolder();
const databases = await Promise.all(Array.from({ length: worldCount }, () => createDatabase()));
const bank = await startSimulator(folder, () => {});
const worlds: World[] = [];
afterAll(async () => {
  await Promise.all(worlds.map(({ close }) => close()));
  await bank.close();
});

async function wishForAll(world: World, cells: Cell[]): Promise<Cast> {
  const wishes = cells.map(async (cell): Promise<[Cell, Attempt[]]> => {
    const names = new Set([...everybody, ...cell.reachedBy]);
    return [cell, await Promise.all([...names].map(name => wish(world, name)))];
  });
  return new Map(await Promise.all(wishes));
}

async function work(world: World, queue: typeof jobs): Promise<void> {
  let service: Service | undefined;
  for (let job = queue.shift(); job; job = queue.shift()) {
    try {
      const cast = await wishForAll(world, job.cells);
      const done = await job.run(world, service ?? (await world.start()), cast);
      job.outcomes.resolve(done.outcomes);
      service = done.service;
    } catch (error) {
      job.outcomes.reject(error);
      await world.close();
      service = undefined;
    }
  }
}

beforeAll(async () => {
  for (const { pool, url } of databases) worlds.push(await createWorld({ pool, url, bank, folder }));
  // One that stops in peace leaves its compiled code to all the others.
  await (await worlds[0]!.start()).stop();
  // The tests below only look at what comes of this, each in its turn.
  for (const { outcomes } of jobs) outcomes.promise.catch(() => {});
  const queue = [...jobs];
  for (const world of worlds) void work(world, queue);
});

/** A test waits for its own job and for all that came before it. */
const timeout = 180_000;

async function expectGoodOutcome(cell: Cell): Promise<void> {
  const { outcomes } = jobs.find(({ cells }) => cells.includes(cell))!;
  expect((await outcomes.promise).get(cell)).toEqual({ reachedBy: new Set(cell.reachedBy), harm: [] });
}

describe('killed', { timeout }, () => {
  test.for(killed.flat())('$point', expectGoodOutcome);
});

describe('killed, and again while recovering from it', { timeout }, () => {
  test.for(killedTwice.flat())('$point, then $second', expectGoodOutcome);
});

describe('taken for dead, and back when another process has done its work', { timeout }, () => {
  test.for(frozen.flat())('$point', expectGoodOutcome);
});
