import type { Pool } from './pool.ts';
import { keepConnection } from './standing.ts';

/** This process among all that use the database, for as long as it is connected. */
export interface Presence {
  instance: number;
  /** Which of these processes are there no longer. */
  findGone(instances: number[]): Promise<number[]>;
  /** False while the database keeps silent: asking it would only be one more who waits. */
  isDatabaseAnswering(): boolean;
  close(): Promise<void>;
}

/** First half of the advisory locks by which processes are known to each other; "kope" in ASCII. */
const lockClass = 0x6b6f7065;
const pingEveryMs = 1_000;
const silentAfterPings = 3;

/**
 * Takes a number and locks it in a session of its own. The server drops the lock the moment it notices that the
 * session is gone, and with kill -9 that is at once: nobody waits for the dead.
 */
export async function announcePresence(pool: Pool): Promise<Presence> {
  const { rows } = await pool.query<{ instance: number }>("SELECT nextval('instances')::int AS instance");
  const { instance } = rows[0]!;
  // Counted in beats and not in time: a process that stood still itself has not listened, and says nothing of others.
  let silentBeats = 0;
  const heard = () => {
    silentBeats = 0;
  };
  let announced: () => void;
  const announcement = new Promise<void>(resolve => {
    announced = resolve;
  });
  const session = keepConnection(pool, 'presence', async client => {
    await client.query('SELECT pg_advisory_lock($1, $2)', [lockClass, instance]);
    heard();
    announced();
  });
  await announcement;

  let asking = false;
  const heartbeat = setInterval(() => {
    silentBeats += 1;
    const client = session.client();
    if (!client || asking) return;
    asking = true;
    client
      .query('SELECT 1')
      .then(heard, session.reconnect)
      .finally(() => {
        asking = false;
      });
  }, pingEveryMs).unref();

  return {
    instance,
    findGone: async instances => {
      if (instances.length === 0) return [];
      const { rows } = await pool.query<{ instance: number }>({
        name: 'find gone instances',
        text: 'SELECT instance FROM unnest($2::int[]) AS i (instance) WHERE pg_try_advisory_xact_lock_shared($1, instance)',
        values: [lockClass, instances],
      });
      return rows.map(row => row.instance);
    },
    isDatabaseAnswering: () => silentBeats <= silentAfterPings,
    close: () => {
      clearInterval(heartbeat);
      return session.close();
    },
  };
}
