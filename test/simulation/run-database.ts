import pg from 'pg';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';

/** The sessions of one database. */
export interface Sessions {
  /** Of all shards. */
  pool: Pool;
  /** By the number of the shard. With one shard, the same as of all. */
  ofShards: Pool[];
}

/** The database of the runs; a run may replace it by an older copy of itself. Its sessions always lead to the current one. */
export interface RunDatabase extends Sessions {
  /** Promotions so far; each changes the timeline of a real server. */
  promotions: number;
  /** Copies it as it is now. Nothing else may use it meanwhile. */
  copy(): Promise<DatabaseCopy>;
  /** Removes all databases that were replaced, and copies that were not used. */
  dropLost(): Promise<void>;
  end(): Promise<void>;
}

export interface DatabaseCopy {
  /** From now on the copy is the database. Returns the sessions of the one that it replaces, which goes on. */
  promote(): Promise<Sessions>;
}

export interface RunDatabaseOptions {
  connection: pg.ClientConfig;
  name: string;
  /** How many shards it has. */
  shards: number;
  /** False where a server with many databases would write all of them to disk for it. */
  drops: boolean;
}

/** Opens an existing database for runs, with one connection of each kind. */
export async function openRunDatabase({
  connection,
  name,
  shards,
  drops,
}: RunDatabaseOptions): Promise<RunDatabase> {
  const admin = new pg.Client({ ...connection, database: 'postgres' });
  await admin.connect();
  function open(database: string): Sessions {
    const openOne = (session: Record<string, string>) => openPool({ ...connection, database, session }, 1);
    const pool = openOne(shards === 1 ? {} : sessionOfAll(shards));
    if (shards === 1) return { pool, ofShards: [pool] };
    return {
      pool,
      ofShards: Array.from({ length: shards }, (_, shard) => openOne(sessionOf(shard, shards))),
    };
  }
  const end = async (sessions: Sessions) =>
    void (await Promise.all([...new Set([sessions.pool, ...sessions.ofShards])].map(pool => pool.end())));
  let current = { name, sessions: open(name) };
  let copies = 0;
  const lost = new Map<string, Sessions | undefined>();

  /** Sessions end a moment after their connections; a copy would wait for them in steps of 100 ms. */
  async function endSessions(): Promise<void> {
    await end(current.sessions);
    const count = { text: 'SELECT FROM pg_stat_activity WHERE datname = $1', values: [current.name] };
    while ((await admin.query(count)).rowCount !== 0);
  }

  async function copy(): Promise<DatabaseCopy> {
    copies += 1;
    const copyName = `${name}_${copies}`;
    await endSessions();
    await admin.query(`CREATE DATABASE ${copyName} TEMPLATE ${current.name}`);
    await tuneForSpeed(admin, copyName);
    current.sessions = open(current.name);
    lost.set(copyName, undefined);
    return {
      promote: async () => {
        const { name: lostName, sessions } = current;
        lost.delete(copyName);
        lost.set(lostName, sessions);
        current = { name: copyName, sessions: open(copyName) };
        return sessions;
      },
    };
  }

  async function dropLost(): Promise<void> {
    for (const [lostName, sessions] of lost) {
      if (sessions) await end(sessions);
      if (drops) await admin.query(`DROP DATABASE ${lostName} WITH (FORCE)`);
    }
    lost.clear();
  }

  await tuneForSpeed(admin, name);
  return {
    pool: leadingTo(() => current.sessions.pool),
    ofShards: Array.from({ length: shards }, (_, shard) =>
      leadingTo(() => current.sessions.ofShards[shard]!),
    ),
    promotions: 0,
    copy,
    dropLost,
    end: async () => {
      await dropLost();
      await end(current.sessions);
      if (drops) await admin.query(`DROP DATABASE ${current.name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

/** What a run uses of a pool, with the pool of that moment. */
const leadingTo = (current: () => Pool): Pool =>
  ({
    get options() {
      return current().options;
    },
    query: (...args: Parameters<Pool['query']>) => current().query(...args),
    connect: (...args: Parameters<Pool['connect']>) => current().connect(...args),
  }) as unknown as Pool;

/**
 * Makes the database faster for connections opened from now on: no run survives a crash of the server, so commits need
 * not wait for the disk, and statements are planned once.
 */
async function tuneForSpeed(admin: pg.Client, name: string): Promise<void> {
  const settings = { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan', jit: 'off' };
  for (const [setting, value] of Object.entries(settings))
    await admin.query(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
}
