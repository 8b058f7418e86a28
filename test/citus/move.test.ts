import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { refreshCopies } from '../../src/db/shards/copies.ts';
import { moveShard } from '../../src/db/shards/move.ts';
import { openNodePool } from '../../src/db/shards/nodes.ts';
import { sessionOf } from '../../src/db/shards/sessions.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { isCitusAvailable } from './available.ts';
import { nodeOf } from './pool.ts';
import { startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('a shard that moves while it serves', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusWorld(1);
  const { pool, url, shards, through, opening, unguarded, newPartner, serversOf } = world;

  test('loses no payment and no event, and numbers go on', async () => {
    const partners = [await newPartner(1), await newPartner(1), await newPartner(1), await newPartner(1)];
    const target = serversOf(1).other;
    const accepted: { partnerId: Id<'prt'>; paymentId: Id<'pay'>; isEnded: boolean }[] = [];
    const failures: string[] = [];
    let isOver = false;
    const writer = unguarded(1);
    const serve = async (partnerId: Id<'prt'>) => {
      while (!isOver) {
        const payment = opening(partnerId);
        const { paymentId } = payment;
        try {
          const { verdict } = await writer.open(payment);
          if (verdict !== 'opened') throw new Error(verdict);
          accepted.push({ partnerId, paymentId, isEnded: false });
          await writer.finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
          accepted.at(accepted.findIndex(one => one.paymentId === paymentId))!.isEnded = true;
        } catch (error) {
          failures.push((error as Error).message);
        }
      }
    };
    /** As a process does every two seconds, wherever the shard is. */
    const renew = async () => {
      while (!isOver) {
        await refreshCopies(pool, shards[1]!, 1).catch(() => {});
        await sleep(500);
      }
    };
    const followed = openNodePool(pool, 1, 1);
    onTestFinished(() => followed.pool.end());
    const portOfSession = async () =>
      (await followed.pool.query<{ port: number }>('SELECT inet_server_port() AS port')).rows[0]!.port;
    const held = await followed.pool.connect();
    const work = [...partners.map(serve), renew()];
    await expect.poll(() => accepted.length).toBeGreaterThan(20);
    const before = accepted.length;
    const began = performance.now();
    const audit = { pool, clock: systemClock, actor: 'test' };
    const result = await moveShard(audit, 1, { host: '127.0.0.1', port: target.port });
    expect(result).toMatchObject({ outcome: 'moved', sessionsLeft: 1 });
    held.release();
    const took = performance.now() - began;
    const during = accepted.length - before;
    // Sessions of the old node still work: Citus passes their statements on.
    const after = accepted.length;
    await expect.poll(() => accepted.length).toBeGreaterThan(after + 10);
    expect(await portOfSession()).toBe(serversOf(1).own.port);
    await followed.follow();
    const old = await world.connect(serversOf(1).own);
    const onOldNode = "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'kopeck shard 1'";
    await expect.poll(async () => (await old.query(onOldNode)).rows).toEqual([{ count: 0 }]);
    expect(await portOfSession()).toBe(target.port);
    isOver = true;
    await Promise.all(work);
    console.info({ took: Math.round(took), during, failures: new Set(failures), accepted: accepted.length });
    expect(during).toBeGreaterThan(0);
    expect(await nodeOf(pool, url, 1)).toContain(`:${target.port}/`);

    const moved = world.open(await nodeOf(pool, url, 1), sessionOf(1, 2));
    const { rows: found } = await moved.query<{ id: string; status: string; events: number }>(
      `SELECT p.id, p.status, (SELECT count(*)::int FROM events e WHERE e.payment_id = p.id) AS events FROM payments p`,
    );
    const byId = new Map(found.map(payment => [payment.id, payment]));
    for (const { paymentId, isEnded } of accepted) {
      const payment = byId.get(uuidFromId(paymentId));
      expect(payment).toBeDefined();
      if (isEnded) expect(payment).toMatchObject({ status: 'succeeded', events: 1 });
    }
    expect((await verifyLedger(through[1]!)).findings).toEqual([]);

    const { rows: numbers } = await moved.query(
      `SELECT count(*)::int AS events, count(DISTINCT e.id)::int AS numbers, bool_and(e.id <= a.last_event_id) AS counted
         FROM events e JOIN accounts a ON a.partner_id = e.partner_id AND a.mode = e.mode`,
    );
    expect(numbers[0].events).toBe(numbers[0].numbers);
    expect(numbers[0].counted).toBe(true);
    // What holds on the old node holds on the new one.
    await expect(moved.query('UPDATE entries SET micro_usdt = 1')).rejects.toThrow(/is refused/);
    await expect(moved.query('DELETE FROM payments')).rejects.toThrow(/are not in the archive/);
  }, 180_000);
});
