import { setTimeout as sleep } from 'node:timers/promises';
import { uuidFromId } from '../../src/base/ids.ts';
import { newOrder, pay } from './calls.ts';
import { createDatabaseProxy } from './database-proxy.ts';
import type { Order } from './history.ts';
import type { Load } from './load.ts';
import type { Program } from './program.ts';
import { claim, count, note, type Round, tell } from './round.ts';
import { until } from './wait.ts';

/** So that there is always something under way when a process is hit. */
const slowly = (round: Round, ms: number) =>
  tell(round.world, 'PUT', '/sim/faults', { id: 'slow', on: 'pay', kind: 'delay', ms });

/** One of two processes is killed and replaced, and its payments are picked up by the other. */
export async function killService(round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  await slowly(round, 400);
  const [victim, other] = await Promise.all([world.startService(), world.sharedService()]);
  load.call(victim, other);
  await load.succeedsAgain();
  await sleep(800);
  await victim.stop('SIGKILL');
  count(round, 'service killed');
  const orphans = await openPayments(round);
  load.call(other);
  const starting = world.startService();
  const tookMs = await until('what the dead process left is finished', 20_000, async () => {
    const open = new Set(await openPayments(round));
    return !orphans.some(id => open.has(id));
  });
  note(round, 'taking over from a killed process', tookMs);
  const successor = await starting;
  load.call(other, successor);
  await load.succeedsAgain();
  round.atTheEnd.push(() => leaveIdle(round, successor));
  return [other, successor];
}

async function openPayments({ world, partners }: Round): Promise<string[]> {
  const { rows } = await world.pool.query<{ payment_id: string }>(
    'SELECT payment_id FROM open_payments WHERE partner_id = ANY ($1)',
    [partners.map(({ partnerId }) => uuidFromId(partnerId))],
  );
  return rows.map(({ payment_id }) => payment_id);
}

/** The bank side's two seconds and a lot of slack: far below what hanging on to something would take. */
const leaveWithSlowBankMs = 20_000;
const leaveIdleMs = 10_000;

async function leaveIdle(round: Round, service: Program): Promise<void> {
  const askedMs = performance.now();
  await service.stop('SIGTERM');
  const tookMs = performance.now() - askedMs;
  note(round, 'leaving with nothing under way', tookMs);
  claim(round, tookMs < leaveIdleMs, `leaving with nothing under way took ${tookMs} ms`);
}

/** A process is told to leave while requests are under way; the next one finishes what it hands over. */
export async function terminateService(round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  const [leaving, next] = await Promise.all([world.startService(), world.sharedService()]);
  load.call(leaving, next);
  await load.succeedsAgain();
  await slowly(round, 2_000);
  const later = Array.from({ length: 4 }, () => newOrder(round));
  for (const order of later) await acceptOnly(round, order);
  const orders = [...later, ...Array.from({ length: 4 }, () => newOrder(round))];
  const answers = orders.map(order => pay(round, leaving, order));
  await until('all are under way', 15_000, async () => (await countOpen(round, orders)) === orders.length);

  load.call(next);
  const askedMs = performance.now();
  const code = await leaving.stop('SIGTERM');
  count(round, 'service told to leave');
  const tookMs = performance.now() - askedMs;
  note(round, 'leaving with requests under way', tookMs);
  claim(round, code === 0, `it left with ${code}`);
  claim(round, tookMs < leaveWithSlowBankMs, `leaving took ${tookMs} ms`);
  for (const { result } of await Promise.all(answers)) {
    const isAnswered = result.kind === 'ok' || (result.kind === 'unknown' && result.payment !== undefined);
    claim(round, isAnswered, `a request under way got ${JSON.stringify(result)} of a leaving process`);
  }

  await tell(world, 'DELETE', '/sim/faults/slow');
  await load.succeedsAgain();
  return [next];
}

/** The bank side takes it and is long about it, so that its request waits for the outcome. */
const acceptOnly = (round: Round, { qrcId }: Order) =>
  tell(round.world, 'PUT', '/sim/faults', {
    on: 'pay',
    qrc_id: qrcId,
    times: 1,
    kind: 'finish_later',
    ms: 4_000,
    outcome: 'succeeded',
  });

async function countOpen({ world }: Round, orders: Order[]): Promise<number> {
  const { rows } = await world.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM open_payments WHERE qrc_id = ANY ($1)`,
    [orders.map(({ qrcId }) => qrcId)],
  );
  return rows[0]!.count;
}

/**
 * A process stands still and its network is given up for dead, so another takes its payments over; then it wakes,
 * with answers of the bank side in its hands that are no longer news.
 */
export async function freezeService(round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  await slowly(round, 600);
  const proxy = await createDatabaseProxy(world.database.port, () => undefined);
  round.atTheEnd.push(proxy.close);
  const [frozen, other] = await Promise.all([
    world.startService({ databasePort: proxy.port }),
    world.sharedService(),
  ]);
  load.call(frozen, other);
  await load.succeedsAgain();
  await sleep(800);
  frozen.signal('SIGSTOP');
  count(round, 'service frozen');
  load.call(other);
  const left = await openPayments(round);
  proxy.cutAll();
  const tookMs = await until('what the frozen process had is finished', 20_000, async () => {
    const open = new Set(await openPayments(round));
    return !left.some(id => open.has(id));
  });
  note(round, 'taking over from a frozen process', tookMs);
  frozen.signal('SIGCONT');
  await until('it is ready again', 20_000, () =>
    fetch(`${frozen.address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  load.call(frozen, other);
  await load.succeedsAgain();
  return [frozen, other];
}
