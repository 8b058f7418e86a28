import { onTestFinished } from 'vitest';
import { openPool } from '../../src/db/pool.ts';
import { enterShard } from '../../src/db/shards/sessions.ts';

/** A session of another program, with an open transaction that locks what the statement says until COMMIT. Of this shard. */
export async function holdLocks(url: string, text: string, values: unknown[], shard = 0) {
  const pool = openPool({ connectionString: url }, 1);
  const session = await pool.connect();
  onTestFinished(async () => {
    session.release(true);
    await pool.end();
  });
  await session.query('BEGIN');
  await enterShard(session, shard);
  await session.query(text, values);
  return { session, unlock: async () => void (await session.query('COMMIT')) };
}

/** The promise, and whether it has ended. */
export function follow<Result>(result: Promise<Result>) {
  const followed = { result, hasEnded: false };
  const note = () => {
    followed.hasEnded = true;
  };
  result.then(note, note);
  return followed;
}
