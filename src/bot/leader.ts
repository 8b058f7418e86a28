import type { Clock } from '../base/clock.ts';
import { openDedicatedConnection } from '../db/dedicated-connection.ts';
import type { Pool } from '../db/pool.ts';

/** The advisory lock of the one process that speaks to Telegram; "chat" in ASCII. */
const lockClass = 0x63686174;
const lookEveryMs = 1_000;

/**
 * Does the work in one process at a time: Telegram lets only one ask for news. Whoever holds a lock in a session of its
 * own does it; when that session ends, however it does, the work is told to stop and another process begins.
 */
export function lead(
  { pool, clock }: { pool: Pool; clock: Clock },
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const stopping = new AbortController();
  const session = openDedicatedConnection(pool, 'bot', async () => {});

  async function takeTheLead(): Promise<void> {
    const client = session.client();
    const asked = await client
      ?.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1, 0) AS got', [lockClass])
      .catch(() => undefined);
    if (!client || !asked?.rows[0]?.got) return;
    const over = new AbortController();
    const working = work(over.signal);
    while (!stopping.signal.aborted && session.client() === client) {
      await clock.sleep(lookEveryMs, stopping.signal);
      await client.query('SELECT 1').catch(session.reconnect);
    }
    over.abort();
    await working;
    await session
      .client()
      ?.query('SELECT pg_advisory_unlock_all()')
      .catch(() => {});
  }

  const finished = (async () => {
    while (!stopping.signal.aborted) {
      await takeTheLead();
      await clock.sleep(lookEveryMs, stopping.signal);
    }
  })();
  return async () => {
    stopping.abort();
    await finished;
    await session.close();
  };
}
