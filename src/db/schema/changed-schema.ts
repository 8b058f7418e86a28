import { readFileSync } from 'node:fs';
import { type Pool, type Queryable, transaction } from '../postgres/index.ts';
import { notOfExtension } from './extensions.ts';
import { compareRecord, ownDatabase } from './migrate.ts';
import type { SqlFile } from './migrations.ts';
import { loadFunctions } from './sql-functions.ts';
import { splitStatements } from './sql-statements.ts';

/**
 * How the triggers, constraints, functions and owners in the database differ from those of this version: disabled, missing, changed and foreign ones. Only
 * the owner of the schema can do that, or somebody who got its rights; who can also write which version is on record, so all is compared
 * whatever that is. A newer release has differences of its own.
 */
export async function findChangedSchema(pool: Pool): Promise<{ isNewer: boolean; faults: string[] }> {
  const { files } = loadFunctions(ownDatabase);
  const { tables, triggers } = readSchemaStatements();
  return transaction(pool, async tx => {
    const { isNewer, faults } = await compareRecord(tx);
    await tx.query({ text: 'SET LOCAL search_path = pg_catalog' });
    faults.push(...(await findTriggerFaults(tx, triggers)));
    faults.push(...(await findConstraintFaults(tx, tables)));
    faults.push(...(await findFunctionFaults(tx, files)));
    faults.push(...(await findTableFaults(tx)), ...(await findForeignOwners(tx)));
    return { isNewer, faults };
  });
}

/** What is missing or not as it should be, and then what is there beside it. */
function compare<Expected, Found>(
  what: string,
  expected: Map<string, Expected>,
  found: Map<string, Found>,
  faultsOf: (expected: Expected, found: Found) => string[],
): string[] {
  const named = (faults: string[], key: string) => faults.map(fault => `${fault} ${what}${key}`);
  return [
    ...[...expected].flatMap(([key, wanted]) => {
      const actual = found.get(key);
      return named(actual === undefined ? ['missing'] : faultsOf(wanted, actual), key);
    }),
    ...[...found.keys()].flatMap(key => (expected.has(key) ? [] : named(['foreign'], key))),
  ];
}

/** Those that a statement names itself. */
async function readFaults(db: Queryable, text: string): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>({ text });
  return rows.map(({ fault }) => fault.replace(' public.', ' '));
}

const forms = [
  /^CREATE (?:UNLOGGED )?TABLE (\w+)/,
  /^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)/,
  /^CREATE TRIGGER \w+ [^;]*? ON (\w+)/s,
];

/** The table that a statement of schema.sql is about. */
function tableOf(statement: string): string | undefined {
  for (const form of forms) {
    const found = form.exec(statement)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

const isTrigger = (statement: string) => /^(?:CREATE TRIGGER|ALTER TABLE \w+ ENABLE)/.test(statement);

/** What schema.sql has: tables with their indexes and views, and triggers apart. Without functions. */
function readSchemaStatements(): { tables: string[]; triggers: string[] } {
  const [schema = ''] = readFileSync(new URL('schema.sql', ownDatabase), 'utf8').split('\nFUNCTION ');
  const statements = splitStatements(schema);
  return {
    tables: statements.filter(statement => !isTrigger(statement)),
    triggers: statements.filter(isTrigger),
  };
}

/** What the statements of schema.sql make, by kind, name and table. */
function parseTables(statements: string[]): Map<string, string> {
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
async function listConstraints(db: Queryable): Promise<Map<string, string>> {
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
const findConstraintFaults = async (db: Queryable, statements: string[]) =>
  compare('', parseTables(statements), await listConstraints(db), (definition, actual) =>
    actual === definition ? [] : ['changed'],
  );

/** What the statements of schema.sql make, by table and name. */
function parseTriggers(statements: string[]) {
  const triggers = new Map<string, { definition: string; isAlways: boolean }>();
  for (const definition of statements) {
    const words = definition.split(' ');
    if (definition.startsWith('CREATE TRIGGER '))
      triggers.set(`${words[2]} on ${tableOf(definition)}`, { definition, isAlways: false });
    // ALTER TABLE … ENABLE ALWAYS TRIGGER …
    else triggers.get(`${words.at(-1)} on ${words[2]}`)!.isAlways = true;
  }
  return triggers;
}

/** The names in a definition have their schema while no other is searched. `enabled` is O, A, D or R. */
async function listTriggers(db: Queryable) {
  const { rows } = await db.query<{ key: string; definition: string; enabled: string }>({
    text: `SELECT format('%s on %s', t.tgname, c.relname) AS key, t.tgenabled AS enabled,
                  replace(pg_get_triggerdef(t.oid, true), 'public.', '') AS definition
             FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'public' AND NOT t.tgisinternal AND NOT c.relispartition ORDER BY c.relname, t.tgname`,
  });
  return new Map(rows.map(row => [row.key, row] as const));
}

/** Faults of the triggers: schema.sql has those that should be there. The connection must search no schema but `pg_catalog`. */
async function findTriggerFaults(db: Queryable, statements: string[]): Promise<string[]> {
  const found = await listTriggers(db);
  const faults = compare(
    'trigger ',
    parseTriggers(statements),
    found,
    ({ definition, isAlways }, trigger) => {
      // One that is on only "always" would be passed over by a session that replicates.
      if (trigger.enabled !== (isAlways ? 'A' : 'O')) return ['disabled'];
      return trigger.definition === definition ? [] : ['changed'];
    },
  );
  return [...faults, ...(await findPartitionFaults(db))];
}

/**
 * A partition has the triggers for rows of its table, and those of the archive have one against TRUNCATE: nothing passes that on.
 */
const findPartitionFaults = (db: Queryable) =>
  readFaults(
    db,
    `WITH partition AS (
             SELECT i.inhrelid AS id, i.inhparent AS parent, c.oid::regclass::text AS name, p.relname LIKE '%\\_archive' AS is_archive
               FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
               JOIN pg_namespace n ON n.oid = p.relnamespace
              WHERE n.nspname = 'public' AND p.relkind = 'p')
           SELECT CASE WHEN t.oid IS NULL THEN 'missing' ELSE 'disabled' END || ' trigger ' || o.tgname || ' on ' || a.name AS fault
             FROM partition a JOIN pg_trigger o ON o.tgrelid = a.parent AND o.tgtype & 1 = 1 AND NOT o.tgisinternal
             LEFT JOIN pg_trigger t ON t.tgrelid = a.id AND t.tgparentid = o.oid
            WHERE t.oid IS NULL OR t.tgenabled <> o.tgenabled
           UNION ALL
           SELECT CASE WHEN t.oid IS NULL THEN 'missing' ELSE 'disabled' END || ' trigger is_not_truncated on ' || a.name
             FROM partition a LEFT JOIN pg_trigger t ON t.tgrelid = a.id AND t.tgname = 'is_not_truncated'
            WHERE a.is_archive AND (t.oid IS NULL OR t.tgenabled <> 'O')
           UNION ALL
           SELECT 'foreign trigger ' || t.tgname || ' on ' || a.name
             FROM partition a JOIN pg_trigger t ON t.tgrelid = a.id AND t.tgparentid = 0 AND NOT t.tgisinternal
            WHERE NOT (a.is_archive AND t.tgname = 'is_not_truncated' AND t.tgfoid = to_regproc('public.refuse_change'))
            ORDER BY 1`,
  );

/**
 * Other ways in which a table does not do what it seems to: rules, row security, foreign keys that are not checked, and owners who could
 * change it. The first schema belongs to the owner of the database, or to an administrator.
 */
const findTableFaults = (db: Queryable) =>
  readFaults(
    db,
    `WITH o AS (SELECT relowner AS id FROM pg_class WHERE oid = 'public.payments'::regclass)
           SELECT fault FROM (
             SELECT 'foreign rule ' || r.rulename || ' on ' || c.oid::regclass AS fault, c.relnamespace
               FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'
             UNION ALL
             SELECT 'row security on ' || c.oid::regclass, c.relnamespace FROM pg_class c WHERE c.relrowsecurity
             UNION
             SELECT 'foreign keys of ' || c.oid::regclass || ' are not checked', c.relnamespace
               FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
              WHERE t.tgisinternal AND t.tgconstraint <> 0 AND t.tgenabled <> 'O'
             UNION ALL
             SELECT format('foreign owner %s of %s', pg_get_userbyid(c.relowner), c.oid::regclass), c.relnamespace
               FROM pg_class c, o WHERE c.relowner <> o.id AND c.relkind NOT IN ('i', 'I') AND ${notOfExtension('c', 'pg_class')}
             UNION ALL
             SELECT format('foreign owner %s of schema %I', r.rolname, s.nspname), s.oid
               FROM pg_namespace s JOIN pg_roles r ON r.oid = s.nspowner, o
              WHERE s.nspowner <> o.id
                AND NOT (s.nspname = 'public' AND (r.rolsuper OR r.rolname = 'pg_database_owner'))) AS f
             JOIN pg_namespace n ON n.oid = f.relnamespace WHERE n.nspname = 'public' ORDER BY 1`,
  );

/** Where functions that keep their path look for names. */
const path = 'public, pg_temp';

/** What the file of a function makes, with its settings as the catalog has them, in order. */
function parseFunction({ sql }: SqlFile) {
  const [all = '', body] = sql.split('$$');
  const lines = all.split('\n').filter(line => !line.startsWith('--'));
  const head = lines.join('\n');
  const settings = Array.from(
    head.matchAll(/\bSET (\w+) (?:=|FROM) (\S+)/g),
    ([, name, value = '']) => `${name}=${value === 'CURRENT' ? path : value.replaceAll("'", '')}`,
  );
  return {
    /** Undefined: the server keeps no text of it. */
    body,
    hasOwnersRights: head.includes('SECURITY DEFINER'),
    settings: settings.sort().join('; '),
  };
}

/** Functions that are not those of the files. */
async function findFunctionFaults(db: Queryable, files: SqlFile[]): Promise<string[]> {
  const { rows } = await db.query<{
    name: string;
    body: string;
    hasOwnersRights: boolean;
    isOwners: boolean;
    settings: string;
  }>({
    text: `SELECT p.proname AS name, p.prosrc AS body, p.prosecdef AS "hasOwnersRights",
                  p.proowner = (SELECT relowner FROM pg_class WHERE oid = 'public.payments'::regclass) AS "isOwners",
                  (SELECT coalesce(string_agg(s, '; ' ORDER BY s COLLATE "C"), '') FROM unnest(p.proconfig) s) AS settings
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = 'public' AND ${notOfExtension('p', 'pg_proc')} ORDER BY 1`,
  });
  const found = Map.groupBy(rows, ({ name }) => name);
  const expected = new Map(files.map(file => [file.name.replace('.sql', ''), parseFunction(file)] as const));
  return compare('function ', expected, found, ({ body, hasOwnersRights, settings }, ofName) => {
    const isRight = ofName.some(
      one =>
        (body === undefined || body === one.body) &&
        hasOwnersRights === one.hasOwnersRights &&
        one.isOwners &&
        one.settings === settings,
    );
    // One with other arguments may be called instead of ours.
    return [...(isRight ? [] : ['changed']), ...(ofName.length > 1 ? ['foreign'] : [])];
  });
}

/** Functions elsewhere that have the rights of their owner. */
const findForeignOwners = (db: Queryable) =>
  readFaults(
    db,
    `SELECT format('foreign function %I.%I with the rights of its owner', n.nspname, p.proname) AS fault FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE p.prosecdef AND n.nspname NOT IN ('public', 'pg_catalog', 'information_schema')
              AND ${notOfExtension('p', 'pg_proc')}
            ORDER BY 1`,
  );
