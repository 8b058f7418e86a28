import { setTimeout as sleep } from 'node:timers/promises';
import { answeredBetween, repeatAll } from '../failover/nodes.ts';
import { newOrder, pay } from '../faults/calls.ts';
import type { Order } from '../faults/history.ts';
import type { Program } from '../faults/program.ts';
import { check, count, note, type Round } from '../faults/round.ts';
import type { Nemesis } from '../faults/run.ts';
import { until } from '../faults/wait.ts';
import { freePort } from '../helpers/free-port.ts';
import { allPayAgain, partnersOf } from './nemeses.ts';
import type { CitusService } from './service-world.ts';
import { createLaggingStandby } from './standby.ts';

const lostMs = 2_000;

/** The newest incarnation. */
async function currentIncarnation({ world }: Round) {
  const { rows } = await world.pool.query<{ number: number; isOpen: boolean }>(
    'SELECT number, opened_at IS NOT NULL AS "isOpen" FROM incarnations ORDER BY number DESC LIMIT 1',
  );
  return rows[0]!;
}

/** Answered in this time, each once. Those that were sent before it too may have been opened before the standby was made. */
const lostOrders = (round: Round, fromMs: number, untilMs: number): Order[] => {
  const older = new Set(round.calls.filter(({ startedMs }) => startedMs < fromMs).map(({ order }) => order));
  return [...new Set(answeredBetween(round, fromMs, untilMs))].filter(order => !older.has(order));
};

/** A worker dies, and its standby takes its place without the last commits. The coordinator and the other worker lose nothing. */
export const loseCommitsOfWorker =
  ({ citus, database, startService, serverOf }: CitusService): Nemesis =>
  async (round, load) => {
    const services: Program[] = [];
    for (const processes of [1, 2]) services.push(await startService({ port: await freePort(), processes }));
    load.call(...services);
    await allPayAgain(round);
    const own = await partnersOf(round, 1);
    const standby = await createLaggingStandby(citus, await serverOf(1));
    const fromMs = performance.now();
    await allPayAgain(round);
    await sleep(lostMs);
    const untilMs = performance.now();
    await standby.takeOver(database.urlAt(database.port));
    count(round, 'worker replaced by a lagging standby');
    const lost = lostOrders(round, fromMs, untilMs).filter(({ partner }) => own.has(partner));
    check(round, lost.length > 0, 'no payment was lost: nothing was tested');

    const noticedMs = await until('the next incarnation has begun', 30_000, async () => {
      return (await currentIncarnation(round)).number === 2;
    });
    note(round, 'until the loss was noticed', noticedMs);
    for (const partner of round.partners)
      await until('a partner is answered', 60_000, async () => {
        const { result } = await pay(round, services[0]!, { ...newOrder(round), partner }, 8_000);
        const { isOpen } = await currentIncarnation(round);
        check(
          round,
          result.kind !== 'ok' || isOpen,
          `paid before the orders were compared: ${JSON.stringify(result)}`,
        );
        // While it joins the database again, a service of one process accepts no connection.
        return isOpen || ('status' in result && result.status === 503);
      });

    const openMs = await until(
      'the incarnation is open',
      120_000,
      async () => (await currentIncarnation(round)).isOpen,
    );
    note(round, 'until payments are accepted', openMs);
    check(round, (await currentIncarnation(round)).number === 2, 'more than one incarnation has begun');
    const { rows } = await round.world.pool.query<{ payments: number }>(
      'SELECT count(*)::int AS payments FROM recovered_payments',
    );
    count(round, 'payments lost', lost.length);
    count(round, 'payments rebuilt', rows[0]!.payments);
    check(
      round,
      rows[0]!.payments >= lost.length,
      `only ${rows[0]!.payments} of ${lost.length} were rebuilt`,
    );
    await allPayAgain(round);
    for (const { order, result } of await repeatAll(round, services, lost))
      check(round, result.kind === 'ok', `a repeat of ${order!.key} got ${JSON.stringify(result)}`);
    return services;
  };
