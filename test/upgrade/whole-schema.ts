import type { Queryable } from '../../src/db/postgres/index.ts';
import { listGuards } from '../../src/db/schema/changed-schema.ts';

/** What guards.sql has not. Partitions have what their table has; those of a time are data. */
const rest = [
  `SELECT format('enum %s %s', t.typname, e.enumlabel) AS line
     FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid ORDER BY t.typname, e.enumsortorder`,
  `SELECT format('sequence %s %s %s', c.relname, format_type(s.seqtypid, NULL), s.seqcycle) AS line
     FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i') ORDER BY c.relname`,
  `SELECT format('%s %s %s %s %s', c.relkind, c.relname, c.relpersistence, c.reloptions, pg_get_partkeydef(c.oid)) AS line
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    ORDER BY c.relname`,
  `SELECT format('default partition %s', p.partdefid::regclass) AS line
     FROM pg_partitioned_table p WHERE p.partdefid <> 0 ORDER BY p.partdefid::regclass::text`,
  `SELECT format('view %s %s', c.relname, pg_get_viewdef(c.oid)) AS line
     FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v' ORDER BY c.relname`,
  `SELECT format('column %s.%s %s %s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                 a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)) AS line
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'c') AND NOT c.relispartition
    ORDER BY c.relname, a.attnum`,
  `SELECT replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS line
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition ORDER BY c.relname`,
  `SELECT format('comment on %s %s: %s', d.objoid::regclass, d.objsubid, d.description) AS line
     FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    WHERE c.relnamespace = 'public'::regnamespace ORDER BY c.relname, d.objsubid`,
  `SELECT pg_get_functiondef(p.oid) AS line
     FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace ORDER BY p.proname, p.oid::regprocedure::text`,
];

/** Every part of the schema as a line, to compare two databases. */
export async function readWholeSchema(db: Queryable): Promise<string[]> {
  const parts = await Promise.all(rest.map(text => db.query<{ line: string }>({ text })));
  return [...(await listGuards(db)).values(), ...parts.flatMap(({ rows }) => rows.map(({ line }) => line))];
}
