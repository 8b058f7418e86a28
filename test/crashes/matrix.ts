/**
 * A service is killed with kill -9 between any two phases of creating, settling and recovering payments, with every
 * behaviour of the bank side at once. After a restart every payment must end as the bank has ended it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator } from '../../src/runtime/simulator.ts';
import type { Service } from '../helpers/cli.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import type { BehaviourName } from './behaviours.ts';
import { type Cell, common } from './cells.ts';
import { freeze, type Held, holdAtPoints, thaw, untilBankIsDone, untilFinal } from './crash.ts';
import { findHarm } from './findings.ts';
import {
  type Attempt,
  type CrashPoints,
  createWorld,
  extendLeases,
  isFinal,
  makeAllDue,
  newAttempt,
  type World,
} from './world.ts';

/** The outcome of the payments of a cell. */
interface Outcome {
  reachedBy: Set<BehaviourName>;
  harm: string[];
}
type Outcomes = Map<Cell, Outcome>;
type AttemptsByCell = Map<Cell, Attempt[]>;

/** Kills the service left by the run before it, and leaves another one. */
type Run = (
  world: World,
  service: Service,
  attemptsByCell: AttemptsByCell,
) => Promise<{ service: Service; outcomes: Outcomes }>;

const pointsOf = (attemptsByCell: AttemptsByCell, read: (cell: Cell) => string): CrashPoints =>
  new Map(
    [...attemptsByCell].flatMap(([cell, attempts]) =>
      attempts.map((one): [Attempt, string] => [one, read(cell)]),
    ),
  );

/** A service takes over unfinished payments within seconds of its start, however long the leases of the dead last. */
const promptlyMs = 25_000;

async function finishAll(
  world: World,
  service: Service,
  attemptsByCell: AttemptsByCell,
  { reached }: Held,
): Promise<Outcomes> {
  const entries = [...attemptsByCell].map(async ([cell, attempts]): Promise<[Cell, Outcome]> => {
    const late = await untilFinal(world, service, attempts, promptlyMs);
    await untilBankIsDone(world, attempts);
    const reachedBy = new Set(
      attempts.filter(attempt => reached.has(attempt)).map(({ behaviour }) => behaviour),
    );
    return [cell, { reachedBy, harm: late }];
  });
  const outcomes = new Map(await Promise.all(entries));
  for (const [cell, { harm }] of outcomes) harm.push(...(await findHarm(world, attemptsByCell.get(cell)!)));
  return outcomes;
}

const kill: Run = async (world, service, attemptsByCell) => {
  const points = pointsOf(attemptsByCell, ({ point }) => point);
  await world.arm(service, points);
  const held = await holdAtPoints(world, service, points);
  await service.stop('SIGKILL');
  await extendLeases(world);
  const next = await world.start();
  return { service: next, outcomes: await finishAll(world, next, attemptsByCell, held) };
};

const killTwice: Run = async (world, service, attemptsByCell) => {
  const first = pointsOf(attemptsByCell, ({ point }) => point);
  await world.arm(service, first);
  await holdAtPoints(world, service, first);
  await service.stop('SIGKILL');
  const second = pointsOf(attemptsByCell, cell => cell.second!);
  // Not where the process is killed at the release of leases: those that have ended need none.
  if (![...second.values()].some(point => point.includes('releaseLeases'))) await makeAllDue(world);
  const recovering = await world.start(second);
  const held = await holdAtPoints(world, recovering, second);
  await recovering.stop('SIGKILL');
  await extendLeases(world);
  const next = await world.start();
  return { service: next, outcomes: await finishAll(world, next, attemptsByCell, held) };
};

const presumeDead: Run = async (world, service, attemptsByCell) => {
  const points = pointsOf(attemptsByCell, ({ point }) => point);
  await world.arm(service, points);
  const held = await holdAtPoints(world, service, points);
  await freeze(world, service);
  await extendLeases(world);
  const other = await world.start();
  const meanwhile = await finishAll(world, other, attemptsByCell, held);

  await thaw(world, service);
  const answers = await held.answers;
  const answerTo = new Map([...points.keys()].map((attempt, index) => [attempt, answers[index]]));
  const outcomes = await finishAll(world, other, attemptsByCell, held);
  for (const [cell, { harm }] of outcomes) {
    harm.push(...meanwhile.get(cell)!.harm);
    for (const attempt of attemptsByCell.get(cell)!) {
      // In test mode ,02 is answered before it is finished; all others have waited for the end.
      if (attempt.behaviour !== 'test ,02' && !isFinal(answerTo.get(attempt)))
        harm.push(`${attempt.behaviour}: answered ${JSON.stringify(answerTo.get(attempt))} in the end`);
    }
  }
  await service.stop('SIGKILL');
  return { service: other, outcomes };
};

interface Job {
  cells: Cell[];
  outcomes: PromiseWithResolvers<Outcomes>;
  run: Run;
}

const jobsOf = (lists: Cell[][], run: Run): Job[] =>
  lists.map(cells => ({ cells, run, outcomes: Promise.withResolvers() }));

async function createAttempts(world: World, cells: Cell[]): Promise<AttemptsByCell> {
  const wishes = cells.map(async (cell): Promise<[Cell, Attempt[]]> => {
    const names = new Set([...common, ...cell.reachedBy]);
    return [cell, await Promise.all([...names].map(name => newAttempt(world, name)))];
  });
  return new Map(await Promise.all(wishes));
}

async function work(world: World, queue: Job[]): Promise<void> {
  let service: Service | undefined;
  for (let job = queue.shift(); job; job = queue.shift()) {
    try {
      const attemptsByCell = await createAttempts(world, job.cells);
      const done = await job.run(world, service ?? (await world.start()), attemptsByCell);
      job.outcomes.resolve(done.outcomes);
      service = done.service;
    } catch (error) {
      job.outcomes.reject(error);
      await world.close();
      service = undefined;
    }
  }
}

/** A test waits for its own job and for all that came before it. Each step of a job has its own limit. */
const timeout = 600_000;

/** The number of worlds that run in parallel; each runs one job after another. */
const worldCount = 3;

/** Tests of these cells. All run at once, as far as there are worlds for them. */
export async function testCells(lists: Record<'killed' | 'killedTwice' | 'frozen', Cell[][]>): Promise<void> {
  const jobs = [
    ...jobsOf(lists.killedTwice, killTwice),
    ...jobsOf(lists.frozen, presumeDead),
    ...jobsOf(lists.killed, kill),
  ];
  const folder = newFolder();
  const databases = await Promise.all(Array.from({ length: worldCount }, () => createDatabase()));
  const bank = await startSimulator(folder, () => {});
  const worlds: World[] = [];
  afterAll(async () => {
    await Promise.all(worlds.map(({ close }) => close()));
    await bank.close();
  });

  beforeAll(async () => {
    for (const { pool, url } of databases) worlds.push(await createWorld({ pool, url, bank, folder }));
    // The tests below wait for these outcomes and check them.
    for (const { outcomes } of jobs) outcomes.promise.catch(() => {});
    const queue = [...jobs];
    for (const world of worlds) void work(world, queue);
  }, timeout);

  async function expectGoodOutcome(cell: Cell): Promise<void> {
    const { outcomes } = jobs.find(({ cells }) => cells.includes(cell))!;
    expect((await outcomes.promise).get(cell)).toEqual({ reachedBy: new Set(cell.reachedBy), harm: [] });
  }

  const suites = [
    ['killed', lists.killed, '$point'],
    ['killed, and again while recovering from it', lists.killedTwice, '$point, then $second'],
    ['presumed dead, and back after another process has finished its payments', lists.frozen, '$point'],
  ] as const;
  for (const [title, cells, name] of suites.filter(([, { length }]) => length > 0))
    describe(title, { timeout }, () => {
      test.for(cells.flat())(name, expectGoodOutcome);
    });
}
