import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../helpers/cli.ts';
import {
  type Answer,
  type Attempt,
  type CrashPoints,
  callBank,
  isFinal,
  makeDue,
  type PaymentState,
  readPaymentStates,
  requestPayment,
  until,
  type World,
} from './world.ts';

/** The payments that have reached their crash point, by key, id or QR code. */
export const reachedIn = (service: Service) =>
  new Set(Array.from(service.output().matchAll(/^crash point reached: (.+)$/gm), ([, name]) => name!));

const isNamed = ({ idempotencyKey, qrcId }: Attempt, state: PaymentState | undefined, names: Set<string>) =>
  names.has(idempotencyKey) || names.has(qrcId) || (state !== undefined && names.has(state.id));

/** These steps run once for many payments, so a held one blocks all later ones; a claim, those of its mode. */
const blocksOthers = (point: string) => /claim|releaseLeases/.test(point);

/** How a crash point process names a step that is about no payment in particular. */
const anyPayment = 'any payment';

export interface Held {
  reached: Set<Attempt>;
  /** The answers to the partners, should the process ever continue. */
  answers: Promise<(Answer | undefined)[]>;
}

/** A busy service may refuse with 503 and do nothing; its partner sends the request again. */
export async function whileRefused<T>(
  request: () => Promise<T>,
  statusOf: (answer: T) => number | undefined,
) {
  for (;;) {
    const answer = await request();
    if (statusOf(answer) !== 503) return answer;
    await sleep(200);
  }
}

export const requestUntilTaken = (service: Service, attempt: Attempt) =>
  whileRefused(
    () => requestPayment(service, attempt),
    answer => answer?.httpStatus,
  );

/** Requests payments from a service and waits until each is held at its crash point or is finished. */
export async function holdAtPoints(world: World, service: Service, points: CrashPoints): Promise<Held> {
  const attempts = [...points.keys()];
  const reached = new Set<Attempt>();
  const answered = new Set<Attempt>();
  const answers = Promise.all(
    attempts.map(async attempt => {
      const answer = await requestUntilTaken(service, attempt);
      if (answer) answered.add(attempt);
      return answer;
    }),
  );
  const isOneEnough = [...points.values()].some(blocksOthers);
  let pending: Attempt[] = attempts;
  const areAllDone = async () => {
    const states = await readPaymentStates(world);
    const names = reachedIn(service);
    const stateOf = (attempt: Attempt) => states.get(attempt.idempotencyKey);
    pending = attempts.filter(attempt => {
      if (isNamed(attempt, stateOf(attempt), names)) reached.add(attempt);
      return !reached.has(attempt) && !(answered.has(attempt) && stateOf(attempt)?.status !== 'processing');
    });
    const heldModes = new Set([...reached].map(({ mode }) => mode));
    const isBlocked = (attempt: Attempt) => names.has(anyPayment) || heldModes.has(attempt.mode);
    if (isOneEnough && names.size > 0 && pending.every(isBlocked)) return true;
    if (pending.length > 0 && pending.every(attempt => stateOf(attempt)?.isScheduled)) await makeDue(world);
    return pending.length === 0;
  };
  await until(areAllDone, 60_000, () => pending.map(({ behaviour }) => behaviour).join('; '));
  // A release of leases is about no payment in particular, so `reachedBy` of its cell cannot show that it was held.
  if (isOneEnough && reachedIn(service).size === 0)
    throw new Error(`nothing reached: ${[...new Set(points.values())].join(', ')}`);
  return { reached, answers };
}

/** A stopped process whose database session is gone is presumed dead, and others finish its payments. */
export async function freeze({ pool }: World, service: Service): Promise<void> {
  process.kill(service.pid, 'SIGSTOP');
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'kopeck heartbeat'`,
  );
}

/** The frozen process continues where it was. */
export async function thaw(world: World, service: Service): Promise<void> {
  process.kill(service.pid, 'SIGCONT');
  await world.arm(service, new Map());
}

/**
 * Repeats every request as its partner would until all payments are final. Returns those that are not in time. Payments
 * in test mode that would end later are made due.
 */
export async function untilFinal(
  world: World,
  service: Service,
  attempts: Attempt[],
  withinMs: number,
): Promise<string[]> {
  const endMs = Date.now() + withinMs;
  const late = await Promise.all(
    attempts.map(async attempt => {
      for (let answer: Answer | undefined; !isFinal(answer); ) {
        if (Date.now() > endMs) return [`${attempt.behaviour}: not final after ${withinMs} ms`];
        answer = await requestPayment(service, attempt, Math.max(endMs - Date.now(), 1));
        if (isFinal(answer)) break;
        if (attempt.mode === 'test') await makeDue(world, 'test');
        await sleep(100);
      }
      return [];
    }),
  );
  return late.flat();
}

/** Waits until the bank side has carried out the delayed orders. */
export async function untilBankIsDone(world: World, attempts: Attempt[]): Promise<void> {
  const late = attempts
    .filter(({ behaviour }) => behaviour === 'very late')
    .map(({ faultIds }) => faultIds.at(-1));
  const isDone = async () => {
    const { faults } = await callBank(world, 'GET', '/sim/faults');
    return !faults.some(({ id }: { id: string }) => late.includes(id));
  };
  await until(isDone, 30_000, () => 'an order that was sent long ago is not carried out');
}
