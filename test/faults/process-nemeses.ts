import { uuidFromId } from '../../src/base/ids.ts';
import { newOrder, pay } from './calls.ts';
import { createDatabaseProxy } from './database-proxy.ts';
import type { Order } from './history.ts';
import type { Load } from './load.ts';
import { answersOk, type Program, until } from './programs.ts';
import { callBank, check, count, limit, type Round } from './round.ts';

/** Slows the bank side down, so that payments are under way when a process is hit. */
const slowly = (round: Round, ms: number) =>
  callBank(round.world, 'PUT', '/sim/faults', { id: 'slow', on: 'pay', kind: 'delay', ms });

/** Fail-over: one of two processes is killed and replaced, and the other takes over its payments. */
export async function killService(round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  await slowly(round, 400);
  const [victim, other] = await Promise.all([world.startService(), world.sharedService()]);
  load.call(victim, other);
  await load.succeeds();
  await until('payments are under way', async () => (await openPayments(round)).length >= 3);
  await victim.stop('SIGKILL');
  count(round, 'service killed');
  const abandoned = await openPayments(round);
  load.call(other);
  const starting = world.startService();
  await takenOver(round, 'killed', abandoned);
  const successor = await starting;
  load.call(other, successor);
  await load.succeeds();
  round.atTheEnd.push(() => shutDownIdle(round, successor));
  return [other, successor];
}

async function openPayments({ world, partners }: Round): Promise<string[]> {
  const { rows } = await world.pool.query<{ payment_id: string }>(
    'SELECT payment_id FROM open_payments WHERE partner_id = ANY ($1)',
    [partners.map(({ partnerId }) => uuidFromId(partnerId))],
  );
  return rows.map(({ payment_id }) => payment_id);
}

async function takenOver(round: Round, what: string, ids: string[]): Promise<void> {
  const tookMs = await until(`the payments of the ${what} process are finished`, async () => {
    const open = new Set(await openPayments(round));
    return !ids.some(id => open.has(id));
  });
  limit(round, `taking over from a ${what} process`, tookMs, 20_000);
}

/** The bank side's two seconds and a lot of slack, but far below any timeout that a hanging shutdown would wait for. */
const shutdownWithSlowBankMs = 20_000;
const shutdownIdleMs = 10_000;

async function shutDownIdle(round: Round, service: Program): Promise<void> {
  const askedMs = performance.now();
  await service.stop('SIGTERM');
  const tookMs = performance.now() - askedMs;
  limit(round, 'shutdown with nothing under way', tookMs, shutdownIdleMs);
}

/** Graceful shutdown: a process gets SIGTERM while requests are under way; the next one finishes its payments. */
export async function terminateService(round: Round, load: Load): Promise<Program[]> {
  const { world } = round;
  const [leaving, next] = await Promise.all([world.startService(), world.sharedService()]);
  load.call(leaving, next);
  await load.succeeds();
  await slowly(round, 2_000);
  const later = Array.from({ length: 4 }, () => newOrder(round));
  for (const order of later) await acceptOnly(round, order);
  const orders = [...later, ...Array.from({ length: 4 }, () => newOrder(round))];
  const answers = orders.map(order => pay(round, leaving, order));
  await until('all are under way', async () => (await countOpen(round, orders)) === orders.length);

  load.call(next);
  const askedMs = performance.now();
  const code = await leaving.stop('SIGTERM');
  count(round, 'service terminated');
  const tookMs = performance.now() - askedMs;
  limit(round, 'shutdown with requests under way', tookMs, shutdownWithSlowBankMs);
  check(round, code === 0, `it exited with ${code}`);
  for (const { result } of await Promise.all(answers)) {
    const isAnswered = result.kind === 'ok' || (result.kind === 'unknown' && result.payment !== undefined);
    check(round, isAnswered, `a request under way got ${JSON.stringify(result)} during shutdown`);
  }

  await callBank(world, 'DELETE', '/sim/faults/slow');
  await load.succeeds();
  return [next];
}

/** The bank side accepts the order and finishes it later, so that its request waits for the outcome. */
const acceptOnly = (round: Round, { qrcId }: Order) =>
  callBank(round.world, 'PUT', '/sim/faults', {
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
 * A process is frozen and its connections are cut, so another takes its payments over; then it wakes, with answers of
 * the bank side that are outdated.
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
  await load.succeeds();
  await until('payments are under way', async () => (await openPayments(round)).length >= 3);
  frozen.signal('SIGSTOP');
  count(round, 'service frozen');
  load.call(other);
  const left = await openPayments(round);
  proxy.cutAll();
  await takenOver(round, 'frozen', left);
  frozen.signal('SIGCONT');
  await until('it is ready again', () => answersOk(`${frozen.address}/readyz`));
  load.call(frozen, other);
  await load.succeeds();
  return [frozen, other];
}
