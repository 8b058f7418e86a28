import { readFileSync, statSync } from 'node:fs';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, newId, uuidFromId } from '../../src/base/ids.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { refreshCopies } from '../../src/db/shards/copies.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { credit, openAccounts } from '../../src/ledger/index.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createShard } from '../helpers/create-shard.ts';
import { openingsOf } from '../helpers/openings.ts';
import { setRate } from '../helpers/partners.ts';
import { createCitusDatabase, databaseAt } from './citus.ts';
import { nodeOf } from './pool.ts';
import { startCitus } from './start.ts';

/** Shard 0 on the coordinator, and shards on two workers, with what a process needs of them. */
export async function startCitusWorld(shardsOnWorkers: number) {
  const citus = await startCitus({ settings: ['log_statement=all'] });
  const workerUrls = citus.workers.map(({ url }) => url);
  const url = await createCitusDatabase(citus.coordinator.url, workerUrls, 'kopeck');
  const count = shardsOnWorkers + 1;
  const distributed = Array.from({ length: shardsOnWorkers }, (_, nth) => nth + 1);
  const open = (address: string, session: Record<string, string>): Pool => {
    const pool = openPool({ connectionString: address, session, distributed });
    pool.on('error', () => {});
    afterFile(() => pool.end());
    return pool;
  };

  const pool = open(url, { search_path: 'public' });
  await migrate(pool);
  await pool.query('DELETE FROM incarnations');
  for (let shard = 1; shard < count; shard += 1) await createShard(pool, systemClock);
  await setRate(pool);
  const opening = await openingsOf(pool, systemClock);
  const urls = [url];
  for (let shard = 1; shard < count; shard += 1) urls.push(await nodeOf(pool, url, shard));
  /** Sessions of each shard on its node. */
  const shards = urls.map((address, shard) => open(address, sessionOf(shard, count)));
  /** The same, through the coordinator. */
  const through = urls.map((_, shard) => open(url, sessionOf(shard, count)));
  const guard = createCodeGuard(through, systemClock, shards);

  return {
    citus,
    pool,
    url,
    shards,
    through,
    open,
    all: open(url, sessionOfAll(count)),
    opening: (partnerId: Id<'prt'>, change: Parameters<typeof opening>[1] = {}) =>
      opening(partnerId, { paymentId: newId('pay', systemClock), ...change }),
    writers: shards.map(db => createPaymentWriter(db, systemClock, {}, {}, guard)),
    /** Without the guard of codes, which is about two shards. */
    unguarded: (shard: number) => createPaymentWriter(shards[shard]!, systemClock),
    /** The server that has the shard, and the other worker. */
    serversOf: (shard: number) => {
      const port = Number(new URL(urls[shard]!).port);
      const own = citus.workers.find(worker => worker.port === port)!;
      return { own, other: citus.workers.find(worker => worker.port !== port)! };
    },
    refresh: (shard: number) => refreshCopies(pool, shards[shard]!, shard),
    /** A partner with money in this shard. */
    newPartner: async (shard: number): Promise<Id<'prt'>> => {
      const partnerId = newId('prt', systemClock);
      await pool.query(
        `INSERT INTO partners (id, name, live_approved, created_at, concurrent, shard)
           VALUES ($1, 'Shop', true, now(), 1000, $2)`,
        [uuidFromId(partnerId), shard],
      );
      await openAccounts(through[shard]!, partnerId);
      const funding = { partnerId, mode: 'live', reference: 'funding', microUsdt: 1_000_000_000n } as const;
      await credit(through[shard]!, systemClock, [funding]);
      if (shard > 0) await refreshCopies(pool, shards[shard]!, shard);
      return partnerId;
    },
    /** A session on a server, in the same database. */
    connect: async (server: { url: string }): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: databaseAt(server.url, 'kopeck') });
      client.on('error', () => {});
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    },
  };
}

/** What a server logs from now on. */
export function logFrom({ logFile }: { logFile: string }): () => string {
  const { size } = statSync(logFile);
  return () => readFileSync(logFile).subarray(size).toString();
}
