import type { Queryable } from '../pool.ts';

/** The tables and views that belong to partners: every shard has them. The others stand once, in `public`. */
export const shardRelations = [
  'accounts',
  'archive_sums',
  'archived_keys',
  'archived_months',
  'archived_references',
  'code_reservations',
  'deliveries',
  'entries',
  'entries_archive',
  'entry_gaps',
  'events',
  'events_archive',
  'further_deliveries',
  'further_webhooks',
  'gateway_calls',
  'locked_quotes',
  'long_payments',
  'open_payments',
  'payment_traces',
  'payments',
  'payments_archive',
  'recovered_payments',
  'refunds',
  'test_checkpoints',
  'test_clocks',
  'test_refusals',
  'void_openings',
  'webhook_attempts',
  'webhooks',
  'all_entries',
  'all_events',
  'all_payments',
  'archivable_payments',
  'deliverable_events',
  'unused_quotes',
];

/** Has a view over all shards for each of their relations. It is there if there are several. */
export const schemaOfAll = 'every_shard';
export const schemaOf = (shard: number) => (shard === 0 ? 'public' : `shard_${shard}`);

/** The schema of the copies of what stands once, for a shard on Citus. Only its functions look there. */
export const copiesOf = (schema: string) => `${schema}_copies`;

/** Where names are looked up. Types, and tables that stand once, are in `public`. */
export const pathOf = (schema: string) => (schema === 'public' ? 'public' : `${schema}, public`);

/** Every schema that has the functions of this version. */
export const schemasOf = (shards: number[]) => [
  ...shards.map(schemaOf),
  ...(shards.length > 1 ? [schemaOfAll] : []),
];

/** The numbers of all shards. A database that is not migrated so far has the first. */
export async function listShards(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ exist: boolean }>({
    text: "SELECT to_regclass('public.shards') IS NOT NULL AS exist",
  });
  if (!rows[0]!.exist) return [0];
  const { rows: found } = await db.query<{ number: number }>({
    text: 'SELECT number FROM public.shards ORDER BY number',
  });
  return found.map(({ number }) => number);
}
