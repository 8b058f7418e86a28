import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { setMaintenance } from '../../src/controls/index.ts';
import { refreshCopies } from '../../src/db/shards/copies.ts';
import type { NewPayment } from '../../src/payments/openings.ts';
import { setRate } from '../helpers/partners.ts';
import { isCitusAvailable } from './available.ts';
import { startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('the copies of what stands once, in a shard on Citus', async () => {
  if (!isCitusAvailable) return;
  const world = await startCitusWorld(1);
  const { pool, shards, opening, unguarded, newPartner, refresh } = world;
  const node = shards[1]!;
  const writer = unguarded(1);
  const partnerId = await newPartner(1);
  const unchecked = { name: 'cafe', id: 'merchant-1' };

  const verdictOf = async (change: Partial<NewPayment> = {}) =>
    (await writer.open(opening(partnerId, { unchecked, ...change }))).verdict;
  const stop = (maintenance: boolean) => pool.query('UPDATE service SET maintenance = $1', [maintenance]);
  const state = async () => (await node.query('SELECT * FROM shard_state')).rows[0];

  test('a stop that was brought is obeyed, and so is its end', async () => {
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
    await stop(true);
    await refresh(1);
    expect(await verdictOf()).toBe('objection');
    await stop(false);
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
  });

  test('a stop by an operator is obeyed when the operator has the answer', async () => {
    await refresh(1);
    const audit = { pool: world.all, clock: systemClock, actor: 'test' };
    await setMaintenance(audit, true);
    expect(await verdictOf()).toBe('objection');
    await setMaintenance(audit, false);
    expect(await verdictOf()).toBe('opened');
  });

  test('without a confirmation of the last ten seconds nothing is opened, checked or not', async () => {
    await refresh(1);
    await node.query("UPDATE shard_state SET confirmed_at = now() - interval '11 s'");
    await expect(verdictOf()).rejects.toThrow('the copies of this shard are out of date');
    await expect(writer.open(opening(partnerId))).rejects.toThrow('the copies of this shard are out of date');
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
  });

  test('a state that was read before the stop, and arrives after it, changes and confirms nothing', async () => {
    await refresh(1);
    const before = await state();
    await stop(true);
    await refresh(1);
    const stopped = await state();
    const late = [before.incarnation, before.version, new Date(), before.digest, '{"maintenance": false}'];
    expect((await node.query('SELECT copies_write($1, $2, $3, $4, $5) AS done', late)).rows).toEqual([
      { done: true },
    ]);
    expect(await state()).toEqual(stopped);
    expect(await verdictOf()).toBe('objection');
    await stop(false);
    await refresh(1);
  });

  test('copies count from before the originals were read, however long that took', async () => {
    let readAt = '';
    const slow = new Proxy(pool, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (name !== 'connect') return typeof value === 'function' ? value.bind(target) : value;
        return async () => {
          readAt = (await node.query('SELECT clock_timestamp()::text AS now')).rows[0].now;
          return target.connect();
        };
      },
    });
    await refreshCopies(slow, node, 1);
    const { rows } = await node.query('SELECT confirmed_at < $1::timestamptz AS earlier FROM shard_state', [
      readAt,
    ]);
    expect(rows).toEqual([{ earlier: true }]);
  });

  test('two that are brought at once agree on the later one', async () => {
    await Promise.all(Array.from({ length: 5 }, () => refresh(1)));
    await stop(true);
    await Promise.all(Array.from({ length: 5 }, () => refresh(1)));
    expect(await verdictOf()).toBe('objection');
    await stop(false);
    await refresh(1);
  });

  test('after the originals went back in time, a new incarnation is believed', async () => {
    await node.query('UPDATE shard_state SET version = version + 1000000000');
    await stop(true);
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
    await pool.query(
      `INSERT INTO incarnations (number, system_identifier, timeline, cause, began_at, certain_at, is_synchronous,
                                 last_event_id, next_event_id, opened_at)
         VALUES (1, 'x', 1, 'restore', now(), now(), false, 0, 1, now())`,
    );
    await refresh(1);
    expect(await verdictOf()).toBe('objection');
    await stop(false);
    await refresh(1);
  });

  test.each([
    [
      'a blocked recipient',
      "INSERT INTO blocked_recipients VALUES ('merchant-1', now())",
      'DELETE FROM blocked_recipients',
    ],
    [
      'a history that is being recovered',
      'UPDATE incarnations SET opened_at = NULL',
      'UPDATE incarnations SET opened_at = now()',
    ],
    [
      'a planned window',
      `INSERT INTO maintenance_windows (from_at, until_at, planned_by, planned_at)
         VALUES (now() - interval '1 h', now() + interval '1 h', 'test', now())`,
      "UPDATE maintenance_windows SET cancelled_at = now(), cancelled_by = 'test'",
    ],
    [
      'a stray order',
      `INSERT INTO stray_orders (payment, order_id, state, amount_kopecks, created_at, why, incarnation, found_at)
         VALUES ('p', 'o', 'succeeded', 1, now(), 'no_reference', 1, now())`,
      "UPDATE stray_orders SET released_at = now(), released_by = 'test', reason = 'test'",
    ],
  ])('%s is an objection', async (_, begin, end) => {
    await pool.query(begin);
    await refresh(1);
    expect(await verdictOf()).toBe('objection');
    await pool.query(end);
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
  });

  test('an older rate is an objection', async () => {
    expect(await verdictOf({ rateId: 0n })).toBe('objection');
  });

  test('a new rate is known to the shard when the refresh is over: the one before is an objection', async () => {
    await refresh(1);
    expect(await verdictOf()).toBe('opened');
    await setRate(world.all, systemClock, '93.00');
    expect(await verdictOf()).toBe('objection');
  });

  test('limits are those of the partner; without them nothing is opened', async () => {
    const other = await newPartner(1);
    await pool.query('UPDATE partners SET concurrent = 1 WHERE id = $1', [uuidFromId(other)]);
    await refresh(1);
    expect((await writer.open(opening(other))).verdict).toBe('opened');
    expect((await writer.open(opening(other))).verdict).toBe('gateway_busy');
    await node.query('DELETE FROM copied_limits WHERE partner_id = $1', [uuidFromId(other)]);
    await expect(writer.open(opening(other))).rejects.toThrow('the limits of a partner have not arrived');
  });

  test('they are for functions of the shard alone, and are read-only', async () => {
    await expect(node.query('UPDATE shard_1_copies.service SET maintenance = false')).rejects.toThrow(
      /cannot|view/,
    );
    await expect(node.query('UPDATE partners SET concurrent = 1')).rejects.toThrow(/does not exist/);
  });
});
