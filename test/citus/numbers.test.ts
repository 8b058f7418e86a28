import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { listEvents } from '../../src/webhooks/delivery/feed.ts';
import { isCitusAvailable } from './available.ts';
import { startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('numbers on Citus', async () => {
  if (!isCitusAvailable) return;
  const { pool, all, shards, through, opening, unguarded, newPartner, refresh } = await startCitusWorld(1);
  const account = 10n ** 10n;

  /** Pays, and returns the numbers that were given out. */
  async function pay(partnerId: Id<'prt'>) {
    const payment = opening(partnerId);
    await refresh(1);
    expect(await unguarded(1).open(payment)).toMatchObject({ verdict: 'opened' });
    const { paymentId } = payment;
    await unguarded(1).finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
    const { rows } = await shards[1]!.query<{ event: bigint; entry: bigint }>(
      `SELECT (SELECT max(id) FROM events WHERE payment_id = $2) AS event,
              (SELECT max(entry_no) FROM entries WHERE partner_id = $1 AND mode = 'live') AS entry`,
      [uuidFromId(partnerId), uuidFromId(paymentId)],
    );
    return rows[0]!;
  }

  test('after a loss, numbers of a shard on Citus go on after a jump, within the range of the account', async () => {
    const join = (isRestored: boolean) =>
      joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored });
    await join(false);
    const partners = [await newPartner(1), await newPartner(1)];
    const before = [await pay(partners[0]!), await pay(partners[1]!)];
    await join(true);
    await pool.query('UPDATE incarnations SET opened_at = now() WHERE opened_at IS NULL');
    for (const [nth, partnerId] of partners.entries()) {
      const after = await pay(partnerId);
      expect(after.event - before[nth]!.event).toBeGreaterThan(1_000_000n);
      expect(after.entry - before[nth]!.entry).toBeGreaterThan(1_000_000n);
      expect(after.event / account).toBe(before[nth]!.event / account);
      // A number that a lost history may have given out stands for its end.
      const feed = { partnerId, mode: 'live' } as const;
      const page = await listEvents(through[1]!, feed, { after: after.event - 1n, limit: 10 });
      expect(page?.events.map(({ eventId }) => eventId)).toEqual([after.event]);
      expect(await listEvents(through[1]!, feed, { after: after.event + 1n, limit: 10 })).toBeUndefined();
    }
    expect((await verifyLedger(all)).findings).toEqual([]);
  });
});
