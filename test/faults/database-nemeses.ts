import { setTimeout as sleep } from 'node:timers/promises';
import { newOrder, pay, readBalance } from './calls.ts';
import { createDatabaseProxy, type StatementFault, statementFaults } from './database-proxy.ts';
import type { Call } from './history.ts';
import type { Load } from './load.ts';
import { answersOk, type Program, until } from './programs.ts';
import { check, count, limit, note, type Round } from './round.ts';

/** Payments that succeed before a fault begins. */
const warmUp = 15;

/** The server is killed with all its child processes, and started again after a moment. */
export async function killDatabase(round: Round, load: Load): Promise<Program[]> {
  const service = await round.world.sharedService();
  load.call(service);
  await load.succeeds(warmUp);
  await round.world.database.kill();
  count(round, 'database killed');
  await sleep(round.random.between(0, 500));
  await round.world.database.start();
  await load.succeeds();
  return [service];
}

/**
 * Longest answers: to a request under way when the database froze, and to one that came after this was noticed. Four beats pass until
 * then, and more on a slow machine. The answer waits neither for a connection (5 s) nor for a statement (6.5 s).
 */
const underWayMs = 10_000;
const noticedAfterMs = 7_500;
const onceNoticedMs = 3_000;
/** Longer than any request may wait, and long enough to see one that waits for a connection after it was noticed. */
const frozenMs = 13_000;

/** The server is stopped: it neither answers nor refuses. Then it continues. */
export const freezeDatabase = (round: Round, load: Load) => freezeDatabaseFor(frozenMs, round, load);

/** So briefly that some requests under way still wait when the server continues. */
export const freezeDatabaseBriefly = (round: Round, load: Load) =>
  freezeDatabaseFor(round.random.between(500, 8_500), round, load);

async function freezeDatabaseFor(ms: number, round: Round, load: Load): Promise<Program[]> {
  const { database } = round.world;
  const service = await round.world.sharedService();
  load.call(service);
  await load.succeeds(warmUp);
  round.atTheEnd.push(database.resume);
  database.freeze();
  count(round, 'database frozen');
  const frozenAtMs = performance.now();
  const probes: Promise<Call>[] = [];
  while (performance.now() - frozenAtMs < ms) {
    probes.push(pay(round, service, newOrder(round)), readBalance(round, service, round.partners[0]!));
    const healthMs = performance.now();
    const health = await fetch(`${service.address}/healthz`);
    check(round, health.status === 200, `/healthz says ${health.status} with a frozen database`);
    note(round, '/healthz while frozen', performance.now() - healthMs);
    await sleep(250);
  }
  const isNoticed = ms > noticedAfterMs && round.checksTimes;
  const ready = isNoticed ? await fetch(`${service.address}/readyz`) : { status: 503 };
  check(round, ready.status === 503, `/readyz says ${ready.status} with a frozen database`);
  const resumedAtMs = performance.now();
  database.resume();
  await Promise.all(probes);
  // The requests of the load are still under way.
  round.atTheEnd.push(() => checkAnswerTimes(round, frozenAtMs, resumedAtMs));
  await load.succeeds();
  await until('/readyz says 200', () => answersOk(`${service.address}/readyz`));
  return [service];
}

function checkAnswerTimes(round: Round, frozenAtMs: number, resumedAtMs: number): void {
  for (const { what, startedMs, endedMs, result } of round.calls) {
    if (endedMs < frozenAtMs || startedMs > resumedAtMs) continue;
    // Only the time while the database was frozen counts.
    const tookMs = Math.min(endedMs, resumedAtMs) - Math.max(startedMs, frozenAtMs);
    const noticed = startedMs > frozenAtMs + noticedAfterMs;
    limit(round, `${what} while it froze`, tookMs, underWayMs);
    if (!noticed) continue;
    limit(round, `${what} of a frozen database`, tookMs, onceNoticedMs);
    const isRefusal = endedMs > resumedAtMs || ('status' in result && result.status === 503);
    check(round, isRefusal, `${what} without a database: ${JSON.stringify(result)}`);
  }
}

const wantedFaults = 12;
const moneyMoves = ['payments_open', 'payments_finish', 'schedule next poll'];

/** Connections break just before, during or just after a statement that moves money. */
export async function cutDatabase(round: Round, load: Load): Promise<Program[]> {
  const { random, world } = round;
  let attacking = false;
  let faults = 0;
  let nextAnswerOf: string | undefined;
  const faultFor = (statement: string): StatementFault | undefined => {
    if (statement === nextAnswerOf) {
      nextAnswerOf = undefined;
      return 'answer_lost';
    }
    if (!attacking || !moneyMoves.includes(statement) || !random.chance(0.15)) return undefined;
    const fault = random.pick(statementFaults);
    count(round, `${statement} ${fault}`);
    faults += 1;
    return fault;
  };
  const proxy = await createDatabaseProxy(world.database.port, faultFor);
  round.atTheEnd.push(proxy.close);
  const service = await world.startService({ databasePort: proxy.port });
  for (const statement of ['payments_open', 'payments_finish']) {
    nextAnswerOf = statement;
    let { result } = await pay(round, service, newOrder(round));
    // A busy machine may refuse before the statement.
    while (nextAnswerOf !== undefined && 'status' in result && result.status === 503)
      ({ result } = await pay(round, service, newOrder(round)));
    check(round, nextAnswerOf === undefined, `nobody sent ${statement}`);
    // A lost payments_open is found by its key and paid; after a lost payments_finish only the outcome is missing.
    const isAnswered = 'payment' in result && (statement === 'payments_finish' || result.kind === 'ok');
    check(round, isAnswered, `without the answer to ${statement} it got ${JSON.stringify(result)}`);
  }
  load.call(service);
  await load.succeeds();
  attacking = true;
  await until('faults hit statements', () => faults >= wantedFaults);
  attacking = false;
  await load.succeeds();
  return [service];
}
