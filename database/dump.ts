/** Reads the schema back from the catalog, as text for reviewers and for the comparison of signatures. */
import type { Queryable } from '../src/db/postgres/index.ts';

interface Line {
  /** The type, table or function that the line belongs to. */
  name: string;
  line: string;
}

/** Only what is ours: `pg_get_…def` and `format_type` leave out the schema name while it is on the search path. */
const ours = 'current_schema()::regnamespace';

const enums = `
  SELECT t.typname AS name, quote_literal(e.enumlabel) AS line
    FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
   WHERE t.typnamespace = ${ours} ORDER BY t.typname, e.enumsortorder`;

const compositeTypes = `
  SELECT c.relname AS name, a.attname || ' ' || format_type(a.atttypid, a.atttypmod) AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.relnamespace = ${ours} AND c.relkind = 'c' AND NOT a.attisdropped ORDER BY c.relname, a.attnum`;

/** Sequences of identity columns are internal and left out. */
const sequences = `
  SELECT c.relname AS name, format_type(s.seqtypid, NULL) || CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END AS line
    FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid
   WHERE c.relnamespace = ${ours} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'i')
   ORDER BY c.relname`;

/** Partitions have what their table has. Those of a time are data; the default one is named below its table. */
const ownTable = "c.relkind IN ('r', 'p') AND NOT c.relispartition";

const tables = `
  SELECT c.relname AS name, coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')
         || coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), '') AS line, c.relpersistence = 'u' AS unlogged
    FROM pg_class c WHERE c.relnamespace = ${ours} AND ${ownTable} ORDER BY c.relname`;

const defaultPartitions = `
  SELECT t.relname AS name, 'CREATE TABLE ' || c.relname || ' PARTITION OF ' || t.relname || ' DEFAULT;' AS line
    FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partdefid JOIN pg_class t ON t.oid = p.partrelid
   WHERE t.relnamespace = ${ours}`;

const views = `
  SELECT c.relname AS name, pg_get_viewdef(c.oid, true) AS line
    FROM pg_class c WHERE c.relnamespace = ${ours} AND c.relkind = 'v' ORDER BY c.relname`;

const columns = `
  SELECT c.relname AS name, a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
         || CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
         || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid, true), '') AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE c.relnamespace = ${ours} AND ${ownTable} ORDER BY c.relname, a.attnum`;

/** PostgreSQL 18 also lists NOT NULL (contype n); older versions do not. */
const constraints = `
  SELECT conrelid::regclass::text AS name, 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(x.oid, true) AS line
    FROM pg_constraint x JOIN pg_class c ON c.oid = x.conrelid
   WHERE connamespace = ${ours} AND contype <> 'n' AND ${ownTable} ORDER BY 1, contype DESC, conname`;

/** Without those that belong to a constraint. */
const indexes = `
  SELECT i.indrelid::regclass::text AS name,
         replace(pg_get_indexdef(i.indexrelid, 0, true), ' ON ONLY ', ' ON ') || ';' AS line
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid AND NOT c.relispartition
   WHERE c.relnamespace = ${ours} AND NOT EXISTS (SELECT FROM pg_constraint x
                                                   WHERE x.conindid = c.oid AND x.conrelid = i.indrelid)
   ORDER BY 1, c.relname`;

const triggers = `
  SELECT c.relname AS name, pg_get_triggerdef(t.oid, true) || ';' || CASE t.tgenabled
         WHEN 'A' THEN E'\\nALTER TABLE ' || c.relname || ' ENABLE ALWAYS TRIGGER ' || t.tgname || ';' ELSE '' END AS line
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
   WHERE c.relnamespace = ${ours} AND NOT t.tgisinternal ORDER BY c.relname, t.tgname`;

const comments = `
  SELECT c.relname AS name,
         'COMMENT ON COLUMN ' || c.relname || '.' || a.attname || ' IS ' || quote_literal(d.description) || ';' AS line
    FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid
   WHERE c.relnamespace = ${ours} ORDER BY c.relname, a.attnum`;

const functions = `
  SELECT p.proname AS name,
         p.proname || '(' || pg_get_function_arguments(p.oid) || ') RETURNS ' || pg_get_function_result(p.oid) AS line,
         CASE p.provolatile WHEN 's' THEN ' STABLE' WHEN 'i' THEN ' IMMUTABLE' ELSE '' END
           || coalesce((SELECT string_agg(E'\\n  SET ' || setting, '') FROM unnest(p.proconfig) setting), '') AS options
    FROM pg_proc p WHERE p.pronamespace = ${ours} ORDER BY p.proname, 2`;

async function read<Row extends Line>(db: Queryable, text: string): Promise<Row[]> {
  return (await db.query<Row & Record<string, unknown>>({ text })).rows;
}

async function readGrouped(db: Queryable, text: string): Promise<Map<string, string[]>> {
  const groups = Map.groupBy(await read(db, text), ({ name }) => name);
  return new Map([...groups].map(([name, lines]) => [name, lines.map(({ line }) => line)]));
}

const block = (lines: string[]) => `(\n${lines.map(line => `  ${line}`).join(',\n')}\n)`;

/** The whole schema without the bodies of functions. The order is by name, so it is to be read and not to be run. */
export async function dumpSchema(db: Queryable): Promise<string> {
  const [inTable, outside] = await Promise.all([
    Promise.all([columns, constraints].map(text => readGrouped(db, text))),
    Promise.all([defaultPartitions, indexes, triggers, comments].map(text => readGrouped(db, text))),
  ]);
  const linesOf = (name: string, groups: Map<string, string[]>[]) =>
    groups.flatMap(group => group.get(name) ?? []);
  const parts = [
    ...[...(await readGrouped(db, enums))].map(
      ([name, labels]) => `CREATE TYPE ${name} AS ENUM (${labels.join(', ')});`,
    ),
    ...[...(await readGrouped(db, compositeTypes))].map(
      ([name, fields]) => `CREATE TYPE ${name} AS ${block(fields)};`,
    ),
    ...(await read(db, sequences)).map(({ name, line }) => `CREATE SEQUENCE ${name} AS ${line};`),
    ...(await read<Line & { unlogged: boolean }>(db, tables)).map(({ name, line: options, unlogged }) =>
      [
        `CREATE ${unlogged ? 'UNLOGGED ' : ''}TABLE ${name} ${block(linesOf(name, inTable))}`,
        `${options};`,
        ...linesOf(name, outside).map(line => `\n${line}`),
      ].join(''),
    ),
    ...(await read(db, views)).map(({ name, line }) => `CREATE VIEW ${name} AS\n${line}`),
    ...(await read<Line & { options: string }>(db, functions)).map(
      ({ line, options }) => `FUNCTION ${line.replace(' RETURNS ', '\n  RETURNS ')}${options};`,
    ),
  ];
  return `-- Generated by \`npm run schema\`: do not edit. The bodies of functions are in functions/.\n\n${parts.join('\n\n')}\n`;
}

/**
 * What callers depend on: each function with its arguments and result, and the fields of the composite types among
 * them, by name.
 */
export async function readSignatures(db: Queryable): Promise<Line[]> {
  const types = [...(await readGrouped(db, compositeTypes))].map(([name, fields]) => ({
    name,
    line: `${name} (${fields.join(', ')})`,
  }));
  return [...types, ...(await read(db, functions)).map(({ name, line }) => ({ name, line }))];
}
