import pg from 'pg';
import { createDatabaseServer, type DatabaseServer } from '../faults/database-server.ts';
import { until } from '../faults/programs.ts';
import { createProxy } from '../faults/proxy.ts';

/** A primary, an asynchronous standby, and one address that leads to either. */
export async function createReplicatedServers(folder: string) {
  const primary = await createDatabaseServer(folder);
  const standby = await primary.createStandby();
  const address = await createAddress(primary);
  return {
    ...primary,
    ...address,
    primary,
    standby,
    start: async () => {
      await primary.start();
      await standby.start();
      await until('the standby follows', async () => {
        const { rows } = await ask(primary, 'SELECT FROM pg_stat_replication');
        return rows.length === 1;
      });
    },
    kill: async () => {
      await address.close();
      await Promise.all([primary.kill(), standby.kill()]);
    },
    /** From now on the standby gets nothing: what is committed is lost when it is promoted. */
    stopReplication: async () => {
      await ask(standby, "ALTER SYSTEM SET primary_conninfo = ''");
      await ask(standby, 'SELECT pg_reload_conf()');
      await until('the standby gets nothing', async () => {
        const { rows } = await ask(standby, 'SELECT FROM pg_stat_wal_receiver');
        return rows.length === 0;
      });
    },
    /** Resolves when the standby accepts commits. */
    promote: async () => {
      // Not by waiting in the statement: replay, which goes on until the promotion, may cancel it.
      await ask(standby, 'SELECT pg_promote(wait => false)');
      await until('the standby accepts commits', async () => {
        const { rows } = await ask(standby, 'SELECT pg_is_in_recovery() AS follows');
        return !rows[0].follows;
      });
    },
  };
}

export type ReplicatedServers = Awaited<ReturnType<typeof createReplicatedServers>>;

/** An address that leads to one of several servers. */
export async function createAddress(first: DatabaseServer) {
  let target = first;
  const proxy = await createProxy(
    () => target.port,
    pair => {
      pair.caller.pipe(pair.target);
      pair.target.pipe(pair.caller);
    },
  );
  return {
    port: proxy.port,
    /** New connections lead there; the sessions that there are stay where they are. */
    leadTo: (server: DatabaseServer) => {
      target = server;
    },
    cutSessions: proxy.cutAll,
    close: proxy.close,
  };
}

/** On a connection of its own, past the proxy. */
export async function ask(server: DatabaseServer, statement: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: server.urlAt(server.port) });
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query(statement, values);
  } finally {
    await client.end();
  }
}
