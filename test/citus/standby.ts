import pg from 'pg';
import { until } from '../faults/wait.ts';
import { afterFile } from '../helpers/after-file.ts';
import type { Citus, CitusNode } from './citus.ts';

/** A standby of a worker that gets nothing any more, and that can take its place. */
export interface LaggingStandby {
  /** The worker ends. Resolves when the standby accepts commits and the cluster of the database `at` this address leads to it. */
  takeOver(coordinator: string): Promise<CitusNode>;
}

/** As of this moment. The worker is down while it is made. */
export async function createLaggingStandby(citus: Citus, worker: CitusNode): Promise<LaggingStandby> {
  await worker.kill();
  const standby = await worker.createStandby();
  afterFile(() => standby.kill());
  await worker.start();
  return {
    takeOver: async coordinator => {
      await worker.kill();
      // Only now: it finds no primary to follow.
      await standby.start();
      const url = standby.urlAt(standby.port);
      await ask(url, 'SELECT pg_promote(wait => false)');
      await until('the standby accepts commits', 30_000, async () => {
        const { rows } = await ask(url, 'SELECT pg_is_in_recovery() AS follows');
        return !rows[0].follows;
      });
      await leadTo(coordinator, worker, standby);
      const node = { ...standby, url, logFile: worker.logFile };
      citus.workers.push(node);
      return node;
    },
  };
}

/** What an operator, or the program that promotes, does on the coordinator. */
export const leadTo = (coordinator: string, from: { port: number }, to: { port: number }) =>
  ask(
    coordinator,
    `SELECT citus_update_node(nodeid, '127.0.0.1', ${to.port}) FROM pg_dist_node WHERE nodeport = ${from.port}`,
  );

async function ask(connectionString: string, statement: string) {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
