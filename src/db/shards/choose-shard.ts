import type { Queryable } from '../pool.ts';
import { distributedShards } from './citus.ts';
import { schemaOf } from './layout.ts';

interface Candidate {
  number: number;
  payments: number;
  partners: number;
}

/**
 * For a new partner: the shard with the fewest payments that are not archived, as PostgreSQL estimates them, and of equal ones
 * that with the fewest partners. Counting the payments would take minutes.
 */
export async function chooseShard(tx: Queryable): Promise<number> {
  const { rows } = await tx.query<Candidate>({
    text: `SELECT s.number, greatest(c.reltuples, pg_stat_get_live_tuples(c.oid))::float8 AS payments,
                  (SELECT count(*) FROM partners p WHERE p.shard = s.number)::float8 AS partners
             FROM shards s
             JOIN pg_class c ON c.oid = to_regclass(shard_schema(s.number) || '.payments')`,
  });
  if (rows.length === 1) return rows[0]!.number;
  const onWorkers = await distributedShards(
    tx,
    rows.map(({ number }) => number),
  );
  const candidates: Candidate[] = [];
  for (const shard of rows) {
    const payments = onWorkers.includes(shard.number)
      ? await estimateOnWorker(tx, shard.number)
      : shard.payments;
    if (payments !== undefined) candidates.push({ ...shard, payments });
  }
  candidates.sort(
    (one, other) =>
      one.payments - other.payments || one.partners - other.partners || one.number - other.number,
  );
  return candidates[0]!.number;
}

/** The coordinator has no rows of the shard to estimate from. Undefined if its worker does not answer. */
async function estimateOnWorker(tx: Queryable, shard: number): Promise<number | undefined> {
  const { rows } = await tx.query<{ payments: number | null }>({
    text: `SELECT CASE WHEN success THEN result::float8 END AS payments
             FROM run_command_on_placements($1::text::regclass,
                    $$SELECT greatest(c.reltuples, pg_stat_get_live_tuples(c.oid)) FROM pg_class c WHERE c.oid = '%s'::regclass$$)`,
    values: [`${schemaOf(shard)}.payments`],
  });
  return rows[0]?.payments ?? undefined;
}
