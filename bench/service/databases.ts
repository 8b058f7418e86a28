import { systemClock as clock } from '../../src/base/clock.ts';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool, type PoolConnection } from '../../src/db/pool.ts';
import { createShard } from '../../src/db/shards/create.ts';
import { sessionOfAll } from '../../src/db/shards/sessions.ts';
import { launchCitus } from '../../test/citus/citus.ts';
import { closeOnce } from './cleanup.ts';

/** Where a service of the bench has its database. */
export interface DatabaseKind {
  /** Before the service starts. Returns settings of the service. */
  prepare(dataDir: string): Promise<Record<string, string>>;
  /** Direct access for the bench, while the service runs. */
  connect(dataDir: string): Promise<{ pool: Pool; close(): Promise<void> }>;
}

/** Filling and vacuuming take longer than the service's timeouts allow. */
const ofBench = {
  application_name: 'kopeck bench',
  statement_timeout: 0,
  query_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

/** The PostgreSQL that the service starts itself. */
export function embeddedDatabase({ shards = 1 } = {}): DatabaseKind {
  return {
    prepare: async dataDir => {
      if (shards === 1) return {};
      const server = await openEmbedded(dataDir, () => {}, 'create');
      await createShards(server.connection, shards - 1);
      await server.close();
      return {};
    },
    connect: async dataDir => {
      const server = await openEmbedded(dataDir, () => {}, 'create');
      const session = shards > 1 ? { session: sessionOfAll(shards) } : {};
      const pool = openPool({ ...server.connection, ...ofBench, ...session });
      return { pool, close: closeOnce(() => pool.end().then(() => server.close())) };
    },
  };
}

/** Like the embedded server. */
const settingsOfNodes = ['shared_buffers=256MB', 'max_wal_size=2GB', 'max_connections=400'];

/** A coordinator with shard 0, and a shard on each worker. All nodes are on this machine. */
export function citusDatabase({ workers }: { workers: number }): DatabaseKind {
  let url: string;
  let stop: () => Promise<void>;
  return {
    prepare: async dataDir => {
      const servers: (() => Promise<void>)[] = [];
      stop = closeOnce(async () => {
        for (const end of servers.reverse()) await end();
      });
      const atEnd = (end: () => Promise<void>) => servers.push(end);
      const { coordinator } = await launchCitus(dataDir, { workers, settings: settingsOfNodes, atEnd });
      url = coordinator.url;
      await createShards({ connectionString: url }, workers);
      return { DATABASE_URL: url };
    },
    connect: async () => {
      const distributed = Array.from({ length: workers }, (_, nth) => nth + 1);
      const session = sessionOfAll(workers + 1);
      const pool = openPool({ connectionString: url, ...ofBench, session, distributed });
      return { pool, close: closeOnce(() => pool.end().then(stop)) };
    },
  };
}

/** Before the service starts, which would have to join its database again after each. */
async function createShards(connection: PoolConnection, count: number): Promise<void> {
  const pool = openPool(connection);
  try {
    await migrate(pool);
    for (let nth = 0; nth < count; nth++) await createShard({ pool, clock, actor: 'bench' });
  } finally {
    await pool.end();
  }
}
