import type pg from 'pg';
import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { openDedicatedConnection, type Pool, ping } from '../db/postgres/index.ts';

/** The advisory lock of the leader; "chat" in ASCII. */
const lockClass = 0x63686174;
const checkIntervalMs = 1_000;
/** A leader without an answer for this long stops. Its last confirmed ping is then at most 9 s old: 4 + 1 + 4. */
const pingTimeoutMs = 4_000;
/** Longer than those 9 s, so that the old leader has stopped; and short enough for a new one within 15 s. */
const silentAfterMs = 11_000;

/**
 * When a connection breaks without a packet, the server can keep its session, and the lock, for hours. The leader pings
 * every second in that session, and the server records when. A session that holds the lock without pings is a dead one.
 */
const endSilentLeader = `
  SELECT pg_terminate_backend(l.pid, 1000)
    FROM pg_locks l JOIN pg_database d ON d.oid = l.database JOIN pg_stat_activity a ON a.pid = l.pid
   WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()
     AND l.classid = $1::int::oid AND l.objid = 0 AND l.objsubid = 2 AND l.pid <> pg_backend_pid()
     AND a.query_start < clock_timestamp() - $2 * interval '1 ms'`;

interface LeaderDeps {
  pool: Pool;
  clock: Clock;
  onError(error: unknown): void;
  /** For tests. */
  silentForMs?: number;
}

/**
 * Leader election by an advisory lock: runs `work` in one process at a time, since Telegram allows one poller per bot.
 * The lock belongs to a dedicated connection. When that connection ends or does not answer, the signal stops the work,
 * and another process becomes the leader. Returns a function that stops everything.
 *
 * Two processes work at once only if a leader was suspended for 11 s as a whole (its timers too) and continues: until its
 * next ping fails, that is at once. This is harmless: Telegram refuses the second poller, and updates and messages are
 * claimed in the database before anything is done.
 */
export function runAsLeader(
  { pool, clock, onError, silentForMs = silentAfterMs }: LeaderDeps,
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const session = openDedicatedConnection({ pool, clock }, 'bot', async () => {});

  async function tryToLead(stopping: AbortSignal): Promise<void> {
    const client = session.client();
    if (!client || !(await takeLock(client, silentForMs))) return;
    const term = new AbortController();
    const working = work(term.signal);
    while (!stopping.aborted && session.client() === client) {
      await clock.sleep(checkIntervalMs, stopping);
      await ping(client, pingTimeoutMs).catch(session.reconnect);
    }
    term.abort();
    await working;
    await session
      .client()
      ?.query('SELECT pg_advisory_unlock_all()')
      .catch(() => {});
  }

  const loop = startBackgroundLoop({ clock, everyMs: checkIntervalMs, work: tryToLead, onError });
  return async () => {
    await loop.stop();
    await session.close();
  };
}

/** An error means no lock: a session that is broken ends, and the next one tries again. */
async function takeLock(client: pg.Client, silentForMs: number): Promise<boolean> {
  try {
    await client.query(endSilentLeader, [lockClass, silentForMs]);
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1, 0) AS locked', [
      lockClass,
    ]);
    return rows[0]!.locked;
  } catch {
    return false;
  }
}
