import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { openDedicatedConnection } from '../db/dedicated-connection.ts';
import type { Pool } from '../db/pool.ts';

/** The advisory lock of the leader; "chat" in ASCII. */
const lockClass = 0x63686174;
const checkIntervalMs = 1_000;

interface LeaderDeps {
  pool: Pool;
  clock: Clock;
  onError(error: unknown): void;
}

/**
 * Leader election by an advisory lock: runs `work` in one process at a time, since Telegram allows one poller per bot.
 * The lock belongs to a dedicated connection. When that connection ends, for whatever reason, the signal stops the work
 * and another process becomes the leader. Returns a function that stops everything.
 */
export function runAsLeader(
  { pool, clock, onError }: LeaderDeps,
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const session = openDedicatedConnection(pool, 'bot', async () => {});

  async function tryToLead(stopping: AbortSignal): Promise<void> {
    const client = session.client();
    const answer = await client
      ?.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1, 0) AS locked', [lockClass])
      .catch(() => undefined);
    if (!client || !answer?.rows[0]?.locked) return;
    const term = new AbortController();
    const working = work(term.signal);
    while (!stopping.aborted && session.client() === client) {
      await clock.sleep(checkIntervalMs, stopping);
      await client.query('SELECT 1').catch(session.reconnect);
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
