import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../helpers/cli.ts';
import {
  type Attempt,
  ask,
  askBank,
  bringForward,
  type CrashPoints,
  isFinal,
  readStandings,
  type Standing,
  type Told,
  until,
  type World,
} from './world.ts';

/** Names of those who have reached the crash point: keys, ids of payments or links, as the point knows them. */
export const reachedIn = (service: Service) =>
  new Set(Array.from(service.output().matchAll(/^crash point reached: (.+)$/gm), ([, name]) => name!));

const isNamed = ({ idempotencyKey, qrcId }: Attempt, standing: Standing | undefined, names: Set<string>) =>
  names.has(idempotencyKey) || names.has(qrcId) || (standing !== undefined && names.has(standing.id));

/** The recovery goes through these one at a time, so that whoever comes later does not get that far. */
const holdsUpOthers = (point: string) => /claim|releaseLeases/.test(point);

export interface Held {
  reached: Set<Attempt>;
  /** What the partners are told if the process ever goes on. */
  answers: Promise<(Told | undefined)[]>;
}

/** Asks a service for payments, and waits until each is held at its crash point or is finished. */
export async function holdAll(world: World, service: Service, points: CrashPoints): Promise<Held> {
  const attempts = [...points.keys()];
  const reached = new Set<Attempt>();
  const answered = new Set<Attempt>();
  const answers = Promise.all(
    attempts.map(async attempt => {
      const told = await ask(service, attempt);
      if (told) answered.add(attempt);
      return told;
    }),
  );
  const enough = [...points.values()].some(holdsUpOthers);
  let waitedFor: Attempt[] = attempts;
  const everybodyIsDone = async () => {
    const standings = await readStandings(world);
    const names = reachedIn(service);
    const standingOf = (attempt: Attempt) => standings.get(attempt.idempotencyKey);
    waitedFor = attempts.filter(attempt => {
      if (isNamed(attempt, standingOf(attempt), names)) reached.add(attempt);
      return (
        !reached.has(attempt) && !(answered.has(attempt) && standingOf(attempt)?.status !== 'processing')
      );
    });
    if (enough && names.size > 0) return true;
    if (waitedFor.length > 0 && waitedFor.every(attempt => standingOf(attempt)?.isScheduled))
      await bringForward(world);
    return waitedFor.length === 0;
  };
  await until(everybodyIsDone, 30_000, () => waitedFor.map(({ behaviour }) => behaviour).join('; '));
  return { reached, answers };
}

/**
 * A process that does not move and whose session is gone is taken for dead, and others finish its work. Then it goes
 * on where it was.
 */
export async function freeze({ pool }: World, service: Service): Promise<void> {
  process.kill(service.pid, 'SIGSTOP');
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'kopeck heartbeat'`,
  );
}

export async function thaw(world: World, service: Service): Promise<void> {
  process.kill(service.pid, 'SIGCONT');
  await world.arm(service, new Map());
}

/**
 * Repeats every request as its partner would until all are final. Returns what is not in time. A payment in test mode
 * that takes its time gets it.
 */
export async function settle(
  world: World,
  service: Service,
  attempts: Attempt[],
  withinMs: number,
): Promise<string[]> {
  const endMs = Date.now() + withinMs;
  const late = await Promise.all(
    attempts.map(async attempt => {
      for (let told: Told | undefined; !isFinal(told); ) {
        if (Date.now() > endMs) return [`${attempt.behaviour}: not final after ${withinMs} ms`];
        told = await ask(service, attempt, Math.max(endMs - Date.now(), 1));
        if (isFinal(told)) break;
        if (attempt.mode === 'test') await bringForward(world, 'test');
        await sleep(100);
      }
      return [];
    }),
  );
  return late.flat();
}

/** Until the bank side has carried out what was sent to it long ago. */
export async function untilBankIsDone(world: World, attempts: Attempt[]): Promise<void> {
  const late = attempts
    .filter(({ behaviour }) => behaviour === 'very late')
    .map(({ faultIds }) => faultIds.at(-1));
  const isDone = async () => {
    const { faults } = await askBank(world, 'GET', '/sim/faults');
    return !faults.some(({ id }: { id: string }) => late.includes(id));
  };
  await until(isDone, 30_000, () => 'an order that was sent long ago is not carried out');
}
