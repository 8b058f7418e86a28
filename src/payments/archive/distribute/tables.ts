import {
  type Pool,
  type Queryable,
  readRows,
  readValue,
  type Statement,
  transaction,
} from '../../../db/postgres/index.ts';

/** Where the tables on the workers are made and filled. Readers do not look there. */
export const copySchema = 'archive_copy';
/** Where the local tables go when those on the workers take their place, until they are dropped. */
export const localSchema = 'archive_local';

/** Payments first: the others are put beside them. */
export const kinds = ['payments', 'events', 'entries'] as const;
export type Kind = (typeof kinds)[number];
export const tableOf = (kind: Kind) => `${kind}_archive`;

/** For one statement: a month may have many rows to copy and to read. */
const timeLimitMs = 6 * 3_600_000;

/** One transaction without the short limits of the service, in which a table on workers may have triggers. */
export const longTransaction = <Result>(pool: Pool, work: (tx: Queryable) => Promise<Result>) =>
  transaction(pool, async tx => {
    await tx.query({ text: `SET LOCAL statement_timeout = ${timeLimitMs}` });
    await tx.query({ text: 'SET LOCAL citus.enable_unsafe_triggers = on' });
    const query: Queryable['query'] = (statement: Statement) =>
      tx.query({ query_timeout: timeLimitMs, ...statement });
    return work({ query });
  });

export interface Partition {
  kind: Kind;
  name: string;
  /** Such as `FOR VALUES FROM (…) TO (…)`. */
  bound: string;
  /** The schema that the partition itself is in. */
  schema: string;
}

/** The partitions of the tables in a schema, oldest month first. */
export const listPartitions = (db: Queryable, schema: string) =>
  readRows<Partition>(db, {
    text: `SELECT k.kind, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound, n.nspname AS schema
             FROM unnest($2::text[]) WITH ORDINALITY AS k (kind, nth)
             JOIN pg_inherits i ON i.inhparent = to_regclass($1 || '.' || k.kind || '_archive')
             JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            ORDER BY right(c.relname, 7), k.nth`,
    values: [schema, kinds],
  });

/** Functions that statements call on the workers. Citus takes there by itself only what is made after the workers were added. */
const functionsOnWorkers = ['archive_digest(jsonb)'];

/** Makes the empty tables on the workers, with the columns, keys, indexes and partitions of the local ones, where they are missing. */
export async function createTables(pool: Pool): Promise<void> {
  await longTransaction(pool, async tx => {
    for (const schema of [copySchema, localSchema])
      await tx.query({ text: `CREATE SCHEMA IF NOT EXISTS ${schema}` });
    await tx.query({
      text: 'SELECT create_distributed_function(f::regprocedure) FROM unnest($1::text[]) AS f',
      values: [functionsOnWorkers],
    });
    await tx.query({
      text: `CREATE TABLE IF NOT EXISTS ${copySchema}.sums (LIKE public.archive_sums INCLUDING CONSTRAINTS, PRIMARY KEY (partner_id, mode, month, kind))`,
    });
  });
  for (const kind of kinds) {
    await longTransaction(pool, async tx => {
      if (!(await isThere(tx, `${copySchema}.${tableOf(kind)}`))) await createTable(tx, kind);
    });
  }
  const made = new Set((await listPartitions(pool, copySchema)).map(({ name }) => name));
  for (const { kind, name, bound } of await listPartitions(pool, 'public')) {
    if (made.has(name)) continue;
    await longTransaction(pool, tx =>
      tx.query({
        text: `CREATE TABLE ${copySchema}.${name} PARTITION OF ${copySchema}.${tableOf(kind)} ${bound}`,
      }),
    );
  }
}

const isThere = (db: Queryable, name: string) =>
  readValue<boolean>(db, {
    text: 'SELECT to_regclass($1) IS NOT NULL AS found',
    values: [name],
  });

async function createTable(tx: Queryable, kind: Kind): Promise<void> {
  const [local, copy] = [`public.${tableOf(kind)}`, `${copySchema}.${tableOf(kind)}`];
  const { rows } = await tx.query<{ definition: string }>({
    text: `SELECT format('CREATE TABLE %s (LIKE %s INCLUDING CONSTRAINTS) PARTITION BY %s', $2::text, $1::text,
                         pg_get_partkeydef($1::regclass)) AS definition
           UNION ALL
           SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', $2::text, conname, pg_get_constraintdef(oid))
             FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'p'
           UNION ALL
           SELECT regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?[^ ]+ ', ' ON ' || $2 || ' ')
             FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary
           UNION ALL
           SELECT format('GRANT %s ON %s TO %I', a.privilege_type, $2::text, r.rolname)
             FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
            WHERE c.oid = $1::regclass AND a.grantee <> c.relowner`,
    values: [local, copy],
  });
  for (const { definition } of rows) await tx.query({ text: definition });
  await tx.query({
    text: `SELECT create_distributed_table('${copy}', 'partner_id'
             ${kind === 'payments' ? '' : `, colocate_with => '${copySchema}.${tableOf('payments')}'`})`,
  });
}
