import { columnsOf, type Pool, type Queryable, readRows, readValue } from '../../../db/postgres/index.ts';
import { copySchema, type Kind, longTransaction, type Partition, tableOf } from './tables.ts';

/** Rows of one account, month and kind, as `archive_sums` has them. They are copied together and compared with it. */
interface Unit {
  partner_id: string;
  mode: string;
  /** Such as `2026-01-01`. */
  month: string;
  rows: bigint;
  /** They were copied before, and have changed since. */
  is_again: boolean;
}

/** Rows of one transaction: a kill undoes no more. */
const maxRows = 200_000n;

/** What the copy should have, and has not yet. Dropped months have no rows. */
const missing = `
  FROM archive_sums s LEFT JOIN ${copySchema}.sums c USING (partner_id, mode, month, kind)
 WHERE (c.rows, c.digest) IS DISTINCT FROM (s.rows, s.digest)
   AND (s.kind = 'entries' OR NOT EXISTS (SELECT FROM archived_months m WHERE m.month = s.month AND m.dropped_at IS NOT NULL))`;

/** What was copied and is not in the archive any more: test rows that were pruned. */
const gone = `
  FROM ${copySchema}.sums c WHERE NOT EXISTS (SELECT FROM archive_sums s
         WHERE (s.partner_id, s.mode, s.month, s.kind) = (c.partner_id, c.mode, c.month, c.kind))`;

/** How many rows have still to be copied, or to be removed from the copy. */
export const countMissing = (db: Queryable) =>
  readValue<number>(db, {
    text: `SELECT (SELECT coalesce(sum(s.rows), 0) ${missing})::float8 + (SELECT coalesce(sum(c.rows), 0) ${gone})::float8 AS rows`,
  });

export const countCopied = (db: Queryable) =>
  readValue<number>(db, {
    text: `SELECT coalesce(sum(rows), 0)::float8 AS rows FROM ${copySchema}.sums`,
  });

/** Copies what is missing, and yields how many rows each transaction has copied. */
export async function* copyMissing(pool: Pool, partitions: Partition[]): AsyncGenerator<number> {
  await removeGone(pool);
  for (const partition of partitions) {
    const units = await listUnits(pool, partition);
    while (units.length > 0) {
      const batch = [units.shift()!];
      for (let rows = batch[0]!.rows; units[0] && rows + units[0].rows <= maxRows; rows += batch.at(-1)!.rows)
        batch.push(units.shift()!);
      yield await copyUnits(pool, partition, batch);
    }
  }
}

const listUnits = (db: Queryable, { kind, name }: Partition) =>
  readRows<Unit>(db, {
    text: `SELECT s.partner_id, s.mode, s.month::text, s.rows, c.rows IS NOT NULL AS is_again ${missing}
              AND s.kind = $1 AND to_char(s.month, 'YYYY_MM') = right($2, 7) ORDER BY 1, 2`,
    values: [kind, name],
  });

/** The columns that say in which month a row is. */
const monthOf: Record<Kind, string> = {
  payments: 'archive_month_of(a.id)',
  events: 'archive_month_of(a.payment_id)',
  entries: "date_trunc('month', a.created_at AT TIME ZONE 'UTC')::date",
};

async function removeGone(pool: Pool): Promise<void> {
  const { rows } = await pool.query<Unit & { kind: Kind }>({
    text: `SELECT c.partner_id, c.mode, c.month::text, c.rows, c.kind ${gone}`,
  });
  for (const unit of rows) await longTransaction(pool, tx => removeUnit(tx, unit.kind, unit));
}

async function removeUnit(tx: Queryable, kind: Kind, { partner_id, mode, month }: Unit): Promise<void> {
  await tx.query({
    text: `DELETE FROM ${copySchema}.${tableOf(kind)} a WHERE a.partner_id = $1 AND a.mode = $2 AND ${monthOf[kind]} = $3`,
    values: [partner_id, mode, month],
  });
  await tx.query({
    text: `DELETE FROM ${copySchema}.sums WHERE partner_id = $1 AND mode = $2 AND month = $3 AND kind = $4`,
    values: [partner_id, mode, month, kind],
  });
}

/** One transaction: copy, and record what has arrived. Test rows may be pruned meanwhile: then they are copied again. */
const copyUnits = (pool: Pool, { kind, name }: Partition, units: Unit[]): Promise<number> =>
  longTransaction(pool, async tx => {
    for (const unit of units) if (unit.is_again) await removeUnit(tx, kind, unit);
    const values = columnsOf(units, 'partner_id', 'mode');
    const { rowCount } = await tx.query({
      text: `INSERT INTO ${copySchema}.${tableOf(kind)}
               SELECT a.* FROM public.${name} a
                 JOIN unnest($1::uuid[], $2::mode[]) AS u (partner_id, mode)
                   ON a.partner_id = u.partner_id AND a.mode = u.mode`,
      values,
    });
    const found = await sumsOf(tx, name, values[0]);
    const wanted = new Set(units.map(({ partner_id, mode }) => `${partner_id} ${mode}`));
    const copied = found.filter(({ partner_id, mode }) => wanted.has(`${partner_id} ${mode}`));
    await tx.query({
      text: `INSERT INTO ${copySchema}.sums (partner_id, mode, month, kind, rows, digest)
               SELECT partner_id, mode, $5, $6, rows, digest
                 FROM unnest($1::uuid[], $2::mode[], $3::bigint[], $4::numeric[]) AS n (partner_id, mode, rows, digest)`,
      values: [...columnsOf(copied, ...sumColumns), units[0]!.month, kind],
    });
    return rowCount ?? 0;
  });

interface Sum extends Pick<Unit, 'partner_id' | 'mode' | 'rows'> {
  digest: string;
}
const sumColumns = ['partner_id', 'mode', 'rows', 'digest'] as const;

/** Read on the workers. Of these partners, or of all. */
const sumsOf = (db: Queryable, name: string, partners?: unknown[]) =>
  readRows<Sum>(db, {
    text: `SELECT a.partner_id, a.mode, count(*) AS rows, sum(archive_digest(to_jsonb(a)))::text AS digest
             FROM ${copySchema}.${name} a ${partners ? 'WHERE a.partner_id = ANY ($1)' : ''} GROUP BY 1, 2`,
    values: partners ? [partners] : [],
  });

/** Reads all rows of a partition on the workers once more. What is not as it was copied is missing from then on, and is copied again. */
export const verifyPartition = (pool: Pool, { kind, name }: Partition): Promise<number> =>
  longTransaction(pool, async tx => {
    const found = await sumsOf(tx, name);
    await tx.query({
      text: `INSERT INTO ${copySchema}.sums AS s (partner_id, mode, month, kind, rows, digest)
               SELECT partner_id, mode, to_date(right($6, 7), 'YYYY_MM'), $5, -1, 0
                 FROM (SELECT * FROM ${copySchema}.sums WHERE kind = $5 AND to_char(month, 'YYYY_MM') = right($6, 7)) AS c
                 FULL JOIN unnest($1::uuid[], $2::mode[], $3::bigint[], $4::numeric[]) AS f (partner_id, mode, rows, digest)
                      USING (partner_id, mode)
                WHERE (c.rows, c.digest) IS DISTINCT FROM (f.rows, f.digest)
             ON CONFLICT (partner_id, mode, month, kind) DO UPDATE SET rows = excluded.rows`,
      values: [...columnsOf(found, ...sumColumns), kind, name],
    });
    return Number(found.reduce((sum, { rows }) => sum + rows, 0n));
  });
