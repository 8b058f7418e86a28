import { openPool, type Pool } from '../../src/db/pool.ts';
import { refreshCopies } from '../../src/db/shards/copies.ts';
import { takeNotices } from '../../src/db/shards/notices.ts';
import { sessionOf } from '../../src/db/shards/sessions.ts';

/** Calls of these are made on the node that has the shard. */
const onNode =
  /\b(?:payments_open|payments_open_limited|payments_open_quoted|payments_finish|payments_recover|deliveries_end|ledger_post|archive_payments|archive_entries|archivable_entries|prune_test_data|codes_reserve|codes_free|opening_void)\(/;

/** The address of the worker that has the shard. */
export async function nodeOf(coordinator: Pool, url: string, shard: number): Promise<string> {
  const { rows } = await coordinator.query<{ nodeport: number }>(
    `SELECT DISTINCT nodeport FROM citus_shards WHERE starts_with(table_name::text, $1 || '.')`,
    [`shard_${shard}`],
  );
  const at = new URL(url);
  at.port = String(rows[0]!.nodeport);
  return at.href;
}

/** So that new partners go to the other shard: they go to that with fewer payments. */
export const fillFirstShard = (pool: Pool) =>
  pool.query("UPDATE pg_class SET reltuples = 1000000 WHERE oid = 'public.payments'::regclass");

/**
 * A pool for tests that were written for one database. Functions of the shard run on its node, with copies of this moment; all other
 * statements and transactions run on the coordinator, in sessions of the shard.
 */
export async function openCitusPool(url: string): Promise<Pool> {
  const first = openPool({ connectionString: url });
  // Tests disable and enable triggers.
  const session = { ...sessionOf(1, 2), 'citus.enable_unsafe_triggers': 'on' };
  const pool = openPool({ connectionString: url, session });
  const node = openPool({ connectionString: await nodeOf(first, url, 1), session });
  // As a process does: for pools that a test opens like this one.
  const renew = () => refreshCopies(first, node, 1);
  await renew();
  const renewal = setInterval(() => void renew().catch(() => {}), 2_000);

  const query = async (...args: [string | { text: string }, ...unknown[]]) => {
    const text = typeof args[0] === 'string' ? args[0] : args[0].text;
    if (!onNode.test(text)) return (pool.query as (...all: unknown[]) => unknown)(...args);
    await renew();
    const result = await (node.query as (...all: unknown[]) => Promise<unknown>)(...args);
    if (text.includes('deliveries_end')) await takeNotices(first, node, 1);
    return result;
  };
  const end = async () => {
    clearInterval(renewal);
    await Promise.all([first.end(), pool.end(), node.end()]);
  };
  return new Proxy(pool, {
    get: (target, name) => {
      if (name === 'query') return query;
      if (name === 'end') return end;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
