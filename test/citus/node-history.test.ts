import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import type { Pool } from '../../src/db/pool.ts';
import { beginAfterNodeChange, NodeChangedError } from '../../src/db/shards/node-history.ts';
import { watchNodes } from '../../src/db/shards/node-watch.ts';
import { openNodePool } from '../../src/db/shards/nodes.ts';
import { sessionOfAll } from '../../src/db/shards/sessions.ts';
import { credit } from '../../src/ledger/index.ts';
import { createCodeGuard, placeOf } from '../../src/payments/shards/code-guard.ts';
import { isCitusAvailable } from './available.ts';
import { createLaggingStandby, leadTo } from './standby.ts';
import { startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('the history of a node', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusWorld(2);
  const { pool, url, citus, through, opening, newPartner, serversOf } = world;
  const join = () => joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored: false });
  await join();

  /** The general pool of a process that has joined this incarnation. */
  const joined = (incarnation: number): Pool => {
    const general = world.open(url, sessionOfAll(3));
    general.options.incarnation = incarnation;
    return general;
  };

  /** Opens one session on the node of the shard, as a process does. */
  async function visit(shard: number, incarnation: number): Promise<void> {
    const { pool: node } = openNodePool(joined(incarnation), shard, 1);
    try {
      await node.query({ text: 'SELECT 1' });
    } finally {
      await node.end();
    }
  }

  const changeOf = (shard: number, incarnation: number): Promise<NodeChangedError> =>
    visit(shard, incarnation).then(
      () => expect.unreachable('the node counts as the same'),
      error => {
        expect(error).toBeInstanceOf(NodeChangedError);
        return error;
      },
    );

  const incarnations = async () =>
    (
      await pool.query<{ number: number; cause: string; opened: boolean; certain_at: Date }>(
        'SELECT number, cause, opened_at IS NOT NULL AS opened, certain_at FROM incarnations ORDER BY number',
      )
    ).rows;

  /** An order whose code is reserved in this shard. */
  function openingAt(place: number, partnerId: Parameters<typeof opening>[0]) {
    for (;;) {
      const payment = opening(partnerId);
      if (placeOf(payment.qrcId, 3) === place) return payment;
    }
  }

  test('a worker that was killed and started again has the same history', async () => {
    await visit(1, 1);
    await serversOf(1).own.kill();
    await serversOf(1).own.start();
    await visit(1, 1);
    const changes: NodeChangedError[] = [];
    const watch = watchNodes(new Map([[1, openNodePool(joined(1), 1, 1)]]), {
      clock: systemClock,
      onNodeChanged: async change => void changes.push(change),
    });
    await expect.poll(() => watch.whyNot(1)).toBeUndefined();
    await watch.stop();
    expect(changes).toEqual([]);
    expect(await incarnations()).toMatchObject([{ number: 1, cause: 'first_start' }]);
  });

  test('a standby that takes the place of a worker begins an incarnation, and nothing moves before that', async () => {
    const [partnerId, other] = [await newPartner(1), await newPartner(2)];
    const standby = await createLaggingStandby(citus, serversOf(1).own);
    const lostFrom = new Date();
    await world.refresh(1);
    await world.refresh(2);
    // Its code is reserved on the node that is going to lose it.
    const unfinished = openingAt(1, other);
    expect(await world.writers[2]!.open(unfinished)).toMatchObject({ verdict: 'opened' });
    expect(await world.unguarded(1).open(opening(partnerId))).toMatchObject({ verdict: 'opened' });
    const node = await standby.takeOver(url);

    const change = await changeOf(1, 1);
    await visit(2, 1);
    const topUp = { partnerId, mode: 'live', reference: 'late', microUsdt: 1n } as const;
    await expect(credit(through[1]!, systemClock, [topUp])).rejects.toThrow(/another history/);

    await beginAfterNodeChange({ pool: joined(1), clock: systemClock }, change);
    await beginAfterNodeChange({ pool: joined(1), clock: systemClock }, change);
    const [, begun, ...more] = await incarnations();
    expect(more).toEqual([]);
    expect(begun).toMatchObject({ number: 2, cause: 'promotion', opened: false });
    // What the node has lost is found from there on, although the coordinator has lost nothing.
    expect(begun!.certain_at.getTime()).toBeLessThan(lostFrom.getTime());
    for (const shard of [1, 2]) {
      await expect(visit(shard, 1)).rejects.toThrow(/newer incarnation/);
      await visit(shard, 2);
      const { rows } = await pool.query(`SELECT is_recovering FROM shard_${shard}.shard_state`);
      expect(rows).toEqual([{ is_recovering: true }]);
    }

    const reservations = async () =>
      (
        await pool.query('SELECT FROM shard_1.code_reservations WHERE payment_ids = $1', [
          [uuidFromId(unfinished.paymentId)],
        ])
      ).rowCount;
    expect(await reservations()).toBe(0);
    await createCodeGuard(through, systemClock).reserveAgain();
    expect(await reservations()).toBe(1);
    expect(node.port).not.toBe(serversOf(1).own.port);
  });

  test('the worker that was replaced is not used again', async () => {
    const [replaced, successor] = [serversOf(1).own, citus.workers.at(-1)!];
    await replaced.start();
    await leadTo(url, successor, replaced);
    await expect(visit(1, 2)).rejects.toThrow(/older history \(incarnation 1, not 2\)/);
    await leadTo(url, replaced, successor);
    await visit(1, 2);
    expect(await incarnations()).toHaveLength(2);
  });
});
