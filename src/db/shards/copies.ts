import { type Pool, type Queryable, transaction } from '../pool.ts';
import { type NodePool, openNodePool } from './nodes.ts';

/** Any number: with the number of a shard it is the lock under which its copies get their version. */
const copiesLock = 731_086_110;

/**
 * What stands once, as functions of this shard read it, with a version: of two versions the higher one was read later. It is the
 * id of the transaction, which is drawn and read under one lock. A database that went back in time has a new incarnation.
 */
const readOriginals = `
  WITH originals AS (
    SELECT jsonb_build_object(
      'rate', (SELECT max(id) FROM rates),
      'maintenance', (SELECT maintenance FROM service),
      'is_recovering', EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL),
      'windows', (SELECT coalesce(jsonb_agg(jsonb_build_object('from_at', from_at, 'until_at', until_at) ORDER BY id), '[]')
                    FROM maintenance_windows WHERE cancelled_at IS NULL),
      'recipients', (SELECT coalesce(jsonb_agg(recipient ORDER BY recipient), '[]') FROM blocked_recipients),
      'limits', (SELECT coalesce(jsonb_agg(jsonb_build_object('partner_id', id, 'concurrent', concurrent,
                                                              'daily_kopecks', daily_kopecks) ORDER BY id), '[]')
                   FROM partners WHERE shard = $1),
      'strays', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                          'payment', s.payment, 'idempotency_key', s.idempotency_key, 'partner_id', s.partner_id,
                          'why', s.why, 'incarnation', s.incarnation, 'began_at', i.began_at) ORDER BY s.payment), '[]')
                   FROM stray_orders s JOIN incarnations i ON i.number = s.incarnation WHERE s.released_at IS NULL)
    ) AS content
  )
  SELECT (SELECT coalesce(max(number), 0) FROM incarnations) AS incarnation, pg_current_xact_id()::text AS version,
         md5(content::text) AS digest, CASE WHEN md5(content::text) IS DISTINCT FROM $2 THEN content::text END AS content
    FROM originals`;

interface Originals {
  incarnation: number;
  version: string;
  digest: string;
  /** Null if the shard has this content already. */
  content: string | null;
}

/**
 * Brings a shard on Citus the current state of what stands once, or confirms the one it has. Afterwards it opens no payment that
 * this state forbids, whichever other calls are late. If it cannot be reached it opens nothing once its copies are ten seconds
 * old: they count from a moment before the originals were read, by the clock of the node itself.
 */
export async function refreshCopies(coordinator: Pool, node: Queryable, shard: number): Promise<void> {
  const { rows } = await node.query<{ now: string; digest: string | null }>({
    text: 'SELECT clock_timestamp()::text AS now, digest FROM shard_state',
  });
  const { now, digest } = rows[0]!;
  const write = async (known: string | null): Promise<boolean> => {
    const originals = await readFor(coordinator, shard, known);
    const written = await node.query<{ done: boolean }>({
      text: 'SELECT copies_write($1, $2, $3, $4, $5) AS done',
      values: [originals.incarnation, originals.version, now, originals.digest, originals.content],
    });
    return written.rows[0]!.done;
  };
  // Another call may have changed the content since.
  if (!(await write(digest))) await write(null);
}

const readFor = (coordinator: Pool, shard: number, known: string | null): Promise<Originals> =>
  transaction(coordinator, async tx => {
    await tx.query({ text: 'SELECT pg_advisory_xact_lock($1, $2)', values: [copiesLock, shard] });
    const { rows } = await tx.query<Originals>({ text: readOriginals, values: [shard, known] });
    return rows[0]!;
  });

/**
 * A transaction that changes what shards on Citus have copies of. Each of them gets the change before the caller gets the result; one
 * that cannot be reached obeys it ten seconds later at the latest.
 */
export async function changeOriginals<Result>(
  pool: Pool,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  const result = await transaction(pool, work);
  await bringCopies(pool);
  return result;
}

/** Brings all shards on Citus the current state of what stands once. Returns those that have not confirmed it. */
export async function bringCopies(pool: Pool): Promise<number[]> {
  const shards = pool.options.distributed ?? [];
  const brought = await Promise.allSettled(
    shards.map(async shard => {
      const node = copyPoolOf(pool, shard);
      await node.follow();
      await refreshCopies(pool, node.pool, shard);
    }),
  );
  return shards.filter((_, nth) => brought[nth]!.status === 'rejected');
}

const copyPools = new WeakMap<Pool, Map<number, NodePool>>();

/** One session for each shard and pool of the coordinator, with which it ends: Citus is slow to start a new one for each change. */
function copyPoolOf(coordinator: Pool, shard: number): NodePool {
  const nodes = copyPools.get(coordinator) ?? endTogether(coordinator);
  const node = nodes.get(shard) ?? openNodePool(coordinator, shard, 1);
  nodes.set(shard, node);
  return node;
}

function endTogether(coordinator: Pool): Map<number, NodePool> {
  const nodes = new Map<number, NodePool>();
  copyPools.set(coordinator, nodes);
  const end = coordinator.end.bind(coordinator);
  coordinator.end = (async () => {
    await Promise.allSettled(Array.from(nodes.values(), ({ pool }) => pool.end()));
    await end();
  }) as typeof coordinator.end;
  return nodes;
}
