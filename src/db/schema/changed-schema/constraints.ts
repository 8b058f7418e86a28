import type { Queryable } from '../../postgres/index.ts';
import { tableOf } from './schema-statements.ts';

/** What the statements of schema.sql make, by kind, name and table. */
function parse(statements: string[]): Map<string, string> {
  const expected = new Map<string, string>();
  for (const statement of statements) {
    const table = tableOf(statement);
    if (statement.startsWith('CREATE UNIQUE INDEX '))
      expected.set(`unique index ${statement.split(' ')[3]} on ${table}`, statement);
    if (!/^CREATE (?:UNLOGGED )?TABLE \w+ \(/.test(statement)) continue;
    const [columns = ''] = statement.split('\n)');
    // The lines of a CASE begin with no space or with four.
    for (const line of columns.split(/,?\n {2}(?=\w)/)) {
      const [word, name, ...definition] = line.split(' ');
      if (word === 'CONSTRAINT') expected.set(`constraint ${name} on ${table}`, definition.join(' '));
    }
  }
  return expected;
}

/** A partition has those of its table and cannot lose them. PostgreSQL 18 also lists NOT NULL (contype n); older versions do not. */
async function listFound(db: Queryable): Promise<Map<string, string>> {
  const { rows } = await db.query<{ key: string; definition: string }>({
    text: `SELECT key, replace(definition, 'public.', '') AS definition FROM (
             SELECT format('constraint %s on %s', x.conname, c.relname) AS key, pg_get_constraintdef(x.oid, true) AS definition,
                    c.relnamespace, c.relispartition
               FROM pg_constraint x JOIN pg_class c ON c.oid = x.conrelid WHERE x.contype NOT IN ('n', 't')
             UNION ALL
             SELECT format('unique index %s on %s', i.relname, c.relname),
                    replace(pg_get_indexdef(i.oid, 0, true), ' ON ONLY ', ' ON ') || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END,
                    c.relnamespace, c.relispartition
               FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
              WHERE x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.oid AND o.conrelid = c.oid)) AS f
             JOIN pg_namespace n ON n.oid = f.relnamespace WHERE n.nspname = 'public' AND NOT relispartition ORDER BY 1`,
  });
  return new Map(rows.map(({ key, definition }) => [key, definition] as const));
}

/**
 * Faults of the constraints and unique indexes: schema.sql has those that should be there. The connection must search no
 * schema but `pg_catalog`.
 */
export async function findConstraintFaults(db: Queryable, statements: string[]): Promise<string[]> {
  const [expected, found] = [parse(statements), await listFound(db)];
  const faults: string[] = [];
  const add = (what: 'missing' | 'changed' | 'foreign', key: string) => faults.push(`${what} ${key}`);
  for (const [key, definition] of expected) {
    const actual = found.get(key);
    if (actual === undefined) add('missing', key);
    else if (actual !== definition) add('changed', key);
  }
  for (const key of found.keys()) if (!expected.has(key)) add('foreign', key);
  return faults;
}
