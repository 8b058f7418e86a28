import { OperatorError } from '../base/operator-error.ts';
import { openDedicatedConnection } from './dedicated-connection.ts';
import type { Pool } from './pool.ts';

/** This process among all that use the database, for as long as it is connected. */
export interface Heartbeat {
  instance: number;
  /** Which of these processes are there no longer. */
  findDead(instances: number[]): Promise<number[]>;
  /** False while the database keeps silent: asking it would only be one more who waits. */
  isDatabaseAnswering(): boolean;
  close(): Promise<void>;
}

/** First half of the advisory locks by which processes are known to each other; "kope" in ASCII. */
const lockClass = 0x6b6f7065;
const pingEveryMs = 1_000;
const silentAfterPings = 3;

/**
 * A connection that was cut without a word lives on at the server, perhaps for hours, and so does its lock. The number
 * is ours alone: whoever else holds it is an earlier session of this process.
 */
const endForerunner = `
  SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
   WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND d.datname = current_database()
     AND l.classid = $1::int::oid AND l.objid = $2::int::oid AND l.objsubid = 2 AND l.pid <> pg_backend_pid()`;

const announceWithinMs = 15_000;

const deadline = () =>
  new Promise<never>((_resolve, reject) => {
    const late = new OperatorError(
      'The database gives this process no session of its own: allow more connections.',
    );
    setTimeout(() => reject(late), announceWithinMs).unref();
  });

/**
 * Takes a number and locks it in a session of its own. The server drops the lock the moment it notices that the
 * session is gone, and with kill -9 that is at once: nobody waits for the dead.
 */
export async function startHeartbeat(pool: Pool): Promise<Heartbeat> {
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
  const session = openDedicatedConnection(pool, 'heartbeat', async client => {
    await client.query(endForerunner, [lockClass, instance]);
    await client.query('SELECT pg_advisory_lock($1, $2)', [lockClass, instance]);
    heard();
    announced();
  });
  await Promise.race([announcement, deadline()]).catch(async error => {
    await session.close();
    throw error;
  });

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
    findDead: async instances => {
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
