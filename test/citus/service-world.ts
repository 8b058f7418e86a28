import { systemClock } from '../../src/base/clock.ts';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { openAccounts } from '../../src/ledger/index.ts';
import { createWorld, type World } from '../faults/world.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createShard } from '../helpers/create-shard.ts';
import { type Citus, type CitusNode, launchCitus } from './citus.ts';

export interface CitusService extends World {
  citus: Citus;
  /** The server that has the shard. */
  serverOf(shard: number): Promise<CitusNode>;
}

const workers = 2;

/** Services in processes of their own, on Citus: shard 0 on the coordinator, and a shard on each of two workers. */
export async function startCitusService(): Promise<CitusService> {
  let citus: Citus | undefined;
  let shards: Pool[] = [];
  let created = 0;
  const world = await createWorld(
    async folder => {
      citus = await launchCitus(folder, { workers, settings: [], atEnd: afterFile });
      let runsAlready = true;
      return {
        ...citus.coordinator,
        start: async () => {
          if (!runsAlready) await citus!.coordinator.start();
          runsAlready = false;
        },
      };
    },
    {
      open: async first => {
        for (let shard = 1; shard <= workers; shard++) await createShard(first, systemClock);
        const count = workers + 1;
        const distributed = Array.from({ length: workers }, (_, nth) => nth + 1);
        const open = (session: Record<string, string>) =>
          openPool({ ...first.options, session, distributed });
        shards = Array.from({ length: count }, (_, shard) => open(sessionOf(shard, count)));
        return { pool: open(sessionOfAll(count)), shards };
      },
      addPartner: async ({ pool, clock }) => {
        const partnerId = newId('prt', clock);
        const shard = created++ % shards.length;
        await pool.query(
          `INSERT INTO partners (id, name, live_approved, created_at, shard) VALUES ($1, 'Faults', true, now(), $2)`,
          [uuidFromId(partnerId), shard],
        );
        await openAccounts(shards[shard]!, partnerId);
        return partnerId;
      },
    },
  );
  return {
    ...world,
    citus: citus!,
    startService: options => world.startService({ logLevel: 'warn', ...options }),
    close: async () => {
      await world.endServices('all');
      for (const worker of citus!.workers) await worker.kill();
      await world.close();
    },
    serverOf: async shard => {
      const { rows } = await world.pool.query<{ port: number }>(
        `SELECT n.nodeport AS port FROM pg_dist_shard s JOIN pg_dist_placement p USING (shardid)
           JOIN pg_dist_node n USING (groupid) WHERE s.logicalrelid = to_regclass($1)`,
        [`shard_${shard}.accounts`],
      );
      return citus!.workers.find(({ port }) => port === rows[0]!.port)!;
    },
  };
}
