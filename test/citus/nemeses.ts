import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { moveShard } from '../../src/db/shards/move.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { newOrder, pay } from '../faults/calls.ts';
import type { Call } from '../faults/history.ts';
import type { Load } from '../faults/load.ts';
import type { Program } from '../faults/program.ts';
import { check, count, note, type Round } from '../faults/round.ts';
import type { Nemesis } from '../faults/run.ts';
import { until } from '../faults/wait.ts';
import type { Partner } from '../faults/world.ts';
import type { CitusNode } from './citus.ts';
import type { CitusService } from './service-world.ts';
import { describeUnpaid } from './unpaid.ts';

/** How long a node is down: longer than copies may be old. */
const downMs = 12_000;

export async function partnersOf({ world, partners }: Round, shard: number): Promise<Set<Partner>> {
  const { rows } = await world.pool.query<{ id: string }>('SELECT id FROM partners WHERE shard = $1', [
    shard,
  ]);
  const ids = new Set(rows.map(({ id }) => id));
  return new Set(partners.filter(({ partnerId }) => ids.has(uuidFromId(partnerId))));
}

/** Payments that began after this moment and have succeeded or were declined, of these partners. */
const endedSince = ({ calls }: Round, sinceMs: number, partners: Set<Partner>): Call[] =>
  calls.filter(
    ({ what, startedMs, order, result }) =>
      what === 'pay' && startedMs > sinceMs && partners.has(order!.partner) && result.kind === 'ok',
  );

/** Until a payment of each of the partners has ended that began after this call. */
export async function allPayAgain(round: Round, partners = round.partners): Promise<void> {
  const sinceMs = performance.now();
  const unpaid = () => partners.filter(one => endedSince(round, sinceMs, new Set([one])).length === 0);
  const tookMs = await until('every partner pays again', 60_000, () => unpaid().length === 0).catch(
    async error => {
      throw new Error(`${error.message}; ${await describeUnpaid(round, unpaid())}`);
    },
  );
  note(round, 'until every partner pays again', tookMs);
}

/** kill -9 of a worker: partners of its shard get 503, and those of other shards pay on. */
export const killWorker = (service: CitusService) =>
  loseWorker(service, 'worker killed', {
    lose: worker => worker.kill(),
    bringBack: worker => worker.start(),
  });

/** A worker that is stopped keeps its connections and answers nothing. */
export const freezeWorker = (service: CitusService) =>
  loseWorker(service, 'worker frozen', {
    lose: async worker => worker.freeze(),
    bringBack: async worker => worker.resume(),
  });

/** Statements under way wait until they time out. Then it is known, and requests are refused at once. */
const maxAnswerMs = { underWay: 12_000, known: 2_000 };
const knownAfterMs = 6_000;

interface Loss {
  lose(worker: CitusNode): Promise<void>;
  bringBack(worker: CitusNode): Promise<void>;
}

const loseWorker =
  ({ startService, serverOf }: CitusService, fault: string, { lose, bringBack }: Loss): Nemesis =>
  async (round, load) => {
    const service = await startService();
    load.call(service);
    await allPayAgain(round);
    const own = await partnersOf(round, 1);
    const others = new Set(round.partners.filter(partner => !own.has(partner)));
    const worker = await serverOf(1);
    await lose(worker);
    count(round, fault);
    const lostMs = performance.now();
    await sleep(downMs);
    const paid = endedSince(round, lostMs, others).length;
    note(round, 'payments of other shards while a worker is down', paid);
    for (const partner of others)
      check(
        round,
        endedSince(round, lostMs, new Set([partner])).length > 0,
        `${partner.partnerId} paid nothing while the worker of another shard was down`,
      );
    await checkRefused(round, service, own, lostMs);
    checkAnswerTimes(round, lostMs);
    await bringBack(worker);
    await allPayAgain(round);
    return [service];
  };

/** Of requests that began while the worker was down: also those of other partners, whose codes may be guarded there. */
function checkAnswerTimes(round: Round, lostMs: number): void {
  const refused = round.calls.filter(({ result }) => result.kind !== 'ok');
  for (const [when, sinceMs, maxMs] of [
    ['while a worker is down', lostMs, maxAnswerMs.underWay],
    ['when it is known that a worker is down', lostMs + knownAfterMs, maxAnswerMs.known],
  ] as const) {
    const times = refused
      .filter(({ startedMs }) => startedMs > sinceMs)
      .map(({ startedMs, endedMs }) => endedMs - startedMs);
    const longest = Math.max(...times);
    note(round, `refusal ${when}`, longest);
    check(round, longest < maxMs, `${when}, a request was refused after ${Math.round(longest)} ms`);
  }
}

/** 503 is checked for Retry-After with every call. */
async function checkRefused(round: Round, service: Program, partners: Set<Partner>, sinceMs: number) {
  const paid = endedSince(round, sinceMs, partners).length;
  check(round, paid === 0, `${paid} payments of a shard whose worker is down`);
  for (const partner of partners) {
    const { result, startedMs, endedMs } = await pay(round, service, { ...newOrder(round), partner }, 20_000);
    const status = 'status' in result ? result.status : undefined;
    check(round, status === 503, `a partner whose worker is down got ${JSON.stringify(result)}`);
    const tookMs = endedMs - startedMs;
    note(round, '503 while a node is down', tookMs);
    check(round, tookMs < maxAnswerMs.known, `503 came after ${Math.round(tookMs)} ms`);
  }
}

/** kill -9 of the coordinator: nobody is paid for until it is back. */
export const killCoordinator =
  ({ startService, database }: CitusService): Nemesis =>
  async (round, load) => {
    const service = await startService();
    load.call(service);
    await allPayAgain(round);
    await database.kill();
    count(round, 'coordinator killed');
    await sleep(downMs);
    await checkRefused(round, service, new Set(round.partners), performance.now() - 1_000);
    await database.start();
    await allPayAgain(round);
    return [service];
  };

/** A node is added and takes a shard while its partners pay; then the node that had it is gone for good. */
export const moveToNewNode =
  (service: CitusService): Nemesis =>
  async (round: Round, load: Load) => {
    const { citus, serverOf, startService } = service;
    const program = await startService();
    load.call(program);
    await allPayAgain(round);
    const before = await serverOf(1);
    const added = await citus.addNode();
    const beganMs = performance.now();
    const audit = { pool: round.world.pool, clock: systemClock, actor: 'test' };
    const { outcome } = await moveShard(audit, 1, { host: '127.0.0.1', port: added.port });
    check(round, outcome === 'moved', `the shard was not moved: ${outcome}`);
    note(round, 'moving a shard under load', performance.now() - beganMs);
    count(round, 'shard moved');
    const own = await partnersOf(round, 1);
    check(
      round,
      endedSince(round, beganMs, own).length > 0,
      'the partners of the shard paid nothing while it moved',
    );
    check(round, (await serverOf(1)).port === added.port, 'the shard is not on the new node');
    await allPayAgain(round);
    await before.kill();
    count(round, 'old node killed');
    await allPayAgain(round);
    await before.start();
    const { rows } = await round.world.pool.query('SELECT max(number)::int AS number FROM incarnations');
    check(round, rows[0].number === 1, 'a shard that moved counts as one that has lost commits');
    return [program];
  };

/** kill -9 of a process that has reserved a code and waits for the account: the code is paid once, and is free in the end. */
export const killReserved =
  ({ startService, serverOf }: CitusService): Nemesis =>
  async (round, load) => {
    const [victim, other] = await Promise.all([startService(), startService()]);
    load.call(other);
    await allPayAgain(round);
    const [partner] = await partnersOf(round, 1);
    const order = { ...newOrder(round), partner: partner! };
    const { url } = await serverOf(1);
    const locker = new pg.Client({ connectionString: url });
    await locker.connect();
    await locker.query('BEGIN');
    await locker.query('SELECT FROM shard_1.accounts WHERE partner_id = $1 FOR UPDATE', [
      uuidFromId(partner!.partnerId),
    ]);
    const answer = pay(round, victim, order, 20_000);
    await until('the code is reserved', 10_000, async () => (await reservations(round, [order.qrcId])) === 1);
    await victim.stop('SIGKILL');
    count(round, 'process killed after it reserved a code');
    await answer;
    const competitor = round.partners.find(one => one !== partner)!;
    const { result } = await pay(round, other, { ...order, partner: competitor, key: randomUUID() });
    check(
      round,
      result.kind === 'failed' && result.code === 'duplicate_qr_in_flight',
      `the code of a killed process was not reserved: ${JSON.stringify(result)}`,
    );
    await locker.query('ROLLBACK');
    await locker.end();
    await allPayAgain(round);
    round.atTheEnd.push(() => sweepAll(round));
    return [other];
  };

async function reservations({ world }: Round, codes: string[] | null): Promise<number> {
  const { rows } = await world.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM code_reservations WHERE $1::text[] IS NULL OR qrc_id = ANY ($1)',
    [codes],
  );
  return rows[0]!.count;
}

/** The sweeper, at a time when everything that was left behind is old enough. */
async function sweepAll(round: Round): Promise<void> {
  const later = { ...systemClock, nowMs: () => systemClock.nowMs() + 180_000 };
  await createCodeGuard(round.world.shards, later).sweep();
  check(round, (await reservations(round, null)) === 0, 'codes are still reserved');
}
