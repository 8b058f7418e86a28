import type { AuditContext } from '../../../db/audit/index.ts';
import { hasRow, type Queryable, sqlStateOf } from '../../../db/postgres/index.ts';
import { countMissing } from './copy.ts';
import { copySchema, kinds, listPartitions, localSchema, longTransaction, tableOf } from './tables.ts';

type SwapDeps = Pick<AuditContext, 'pool' | 'clock'>;

/** As in prune_test_data. While it is held, no test row leaves the archive. */
const pruningLock = 7_310_861_003;
/** Readers of the archive wait behind a lock that is waited for. */
const lockTimeoutMs = 1_000;

/**
 * The tables on the workers take the place of the local ones, in one transaction. Until its commit every reader reads the local ones.
 * False if rows have been archived or pruned since they were copied.
 */
export const swap = (deps: SwapDeps): Promise<boolean> =>
  withShortLocks(deps, async tx => {
    await tx.query({ text: `SELECT pg_advisory_xact_lock(${pruningLock})` });
    if ((await countMissing(tx)) > 0) return false;
    // Before the locks: readers do not wait for this.
    await createTriggers(tx);
    await tx.query({
      text: `LOCK TABLE ${kinds.map(kind => `public.${tableOf(kind)}`).join(', ')} IN ACCESS EXCLUSIVE MODE`,
    });
    for (const kind of kinds) {
      await tx.query({ text: `ALTER TABLE public.${tableOf(kind)} SET SCHEMA ${localSchema}` });
      await tx.query({ text: `ALTER TABLE ${copySchema}.${tableOf(kind)} SET SCHEMA public` });
    }
    await setViews(tx);
    return true;
  });

/** The triggers of the local tables and partitions. They refuse to delete rows, so they come last. */
async function createTriggers(tx: Queryable): Promise<void> {
  const { rows } = await tx.query<{ definition: string }>({
    text: `SELECT replace(pg_get_triggerdef(t.oid), ' ON ' || $1 || '.', ' ON ${copySchema}.') AS definition
             FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND (c.oid = ANY ($2::regclass[])
                  OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY ($2::regclass[])))`,
    values: ['public', kinds.map(kind => `public.${tableOf(kind)}`)],
  });
  for (const { definition } of rows) await tx.query({ text: definition });
  for (const kind of kinds)
    await tx.query({
      text: `ALTER TABLE ${copySchema}.${tableOf(kind)} ENABLE ALWAYS TRIGGER ${tableOf(kind)}_is_append_only`,
    });
}

/** What comes from the archive, for each account, by the function that reads it. */
const archived = {
  payments:
    "archived_payments_between(k.partner_id, k.mode, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')",
  events: 'archived_events_from(k.partner_id, k.mode, 0, NULL)',
  entries: 'archived_entries_before_live(k.partner_id, k.mode)',
};

/**
 * The views of all rows, in the form for an archive on workers. Citus would bring every row of a table on workers here before it looks
 * at a condition. In this form the planner takes conditions on partner and mode to `accounts`, and only those accounts are read.
 */
export async function setViews(tx: Queryable): Promise<void> {
  for (const kind of kinds) {
    const { rows } = await tx.query<{ columns: string }>({
      text: `SELECT string_agg(CASE WHEN attname IN ('partner_id', 'mode') THEN 'k.' ELSE 'a.' END || quote_ident(attname), ', '
                               ORDER BY attnum) AS columns
               FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      values: [`public.${kind}`],
    });
    await tx.query({
      text: `CREATE OR REPLACE VIEW public.all_${kind} AS
               SELECT * FROM public.${kind}
               UNION ALL
               SELECT ${rows[0]!.columns} FROM public.accounts k CROSS JOIN LATERAL ${archived[kind]} AS a`,
    });
  }
}

/** After the swap: drops the local rows, month by month, and gives the partitions on the workers their names. */
export async function* dropLocal(deps: SwapDeps): AsyncGenerator<void> {
  const { pool } = deps;
  for (const { kind, name } of await listPartitions(pool, localSchema)) {
    await withShortLocks(deps, async tx => {
      await tx.query({ text: `ALTER TABLE ${localSchema}.${tableOf(kind)} DETACH PARTITION public.${name}` });
      await tx.query({ text: `DROP TABLE public.${name}` });
    });
    yield;
  }
  for (const { name, schema } of await listPartitions(pool, 'public')) {
    if (schema !== copySchema) continue;
    await withShortLocks(deps, tx =>
      tx.query({ text: `ALTER TABLE ${copySchema}.${name} SET SCHEMA public` }),
    );
    yield;
  }
  await longTransaction(pool, async tx => {
    await tx.query({ text: `DROP SCHEMA IF EXISTS ${localSchema} CASCADE` });
    await tx.query({ text: `DROP SCHEMA IF EXISTS ${copySchema} CASCADE` });
  });
}

/** Whether a swap was not followed by all of `dropLocal`. */
export const hasLocalLeft = (db: Queryable) =>
  hasRow(db, {
    text: 'SELECT FROM pg_namespace WHERE nspname = ANY ($1)',
    values: [[copySchema, localSchema]],
  });

const maxAttempts = 60;

/** Gives up a lock that it does not get at once, and tries again: statements of the service wait behind it. */
async function withShortLocks<Result>(
  { pool, clock }: SwapDeps,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await longTransaction(pool, async tx => {
        await tx.query({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
        // One session for each worker: several statements on the same table and its schema could not share more.
        await tx.query({ text: "SET LOCAL citus.multi_shard_modify_mode = 'sequential'" });
        return work(tx);
      });
    } catch (error) {
      if (sqlStateOf(error) !== '55P03' || attempt === maxAttempts) throw error;
      await clock.sleep(lockTimeoutMs);
    }
  }
}
