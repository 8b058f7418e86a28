import { afterAll } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { credit, openAccounts } from '../../src/ledger/index.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { manualClock } from '../helpers/clock.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { setRate } from '../helpers/partners.ts';

/** A database with shards, and what processes need of it. */
export async function startShardsWorld(count: number) {
  const { pool, url } = await createDatabase();
  await setRate(pool);
  for (let shard = 1; shard < count; shard++) await createShard(pool, systemClock);

  const openSessions = (session: Record<string, string>): Pool => {
    const opened = openPool({ ...pool.options, session });
    afterAll(() => opened.end());
    return opened;
  };
  const shards = Array.from({ length: count }, (_, shard) => openSessions(sessionOf(shard, count)));
  const all = openSessions(sessionOfAll(count));
  const clock = manualClock();
  const makeOpening = await openingsOf(pool, clock);
  /** Ids have the time of the clock. */
  const opening: typeof makeOpening = (partnerId, change) =>
    makeOpening(partnerId, { paymentId: newId('pay', clock), ...change });

  /** A partner with money in this shard. */
  async function newPartner(shard: number): Promise<Id<'prt'>> {
    const partnerId = newId('prt', systemClock);
    await pool.query(
      `INSERT INTO partners (id, name, live_approved, created_at, concurrent, shard)
       VALUES ($1, 'Shop', true, now(), 100, $2)`,
      [uuidFromId(partnerId), shard],
    );
    await openAccounts(shards[shard]!, partnerId);
    const funding = { partnerId, mode: 'live', reference: 'funding', microUsdt: 1_000_000_000n } as const;
    await credit(shards[shard]!, systemClock, [funding]);
    return partnerId;
  }

  /** What one process has: its own writers, and its guard. */
  function newProcess() {
    const guard = createCodeGuard(shards, clock);
    const writers = shards.map(db => createPaymentWriter(db, clock, {}, {}, guard));
    return { guard, writers };
  }

  return { pool, url, shards, all, clock, openSessions, newPartner, newProcess, opening };
}
