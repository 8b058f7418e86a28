import { readFileSync } from 'node:fs';
import { type Pool, type Queryable, readRows, transaction } from '../postgres/index.ts';
import { notOfExtension } from './extensions.ts';
import { compareRecord, ownDatabase } from './migrate.ts';
import type { SqlFile } from './migrations.ts';
import { loadFunctions } from './sql-functions.ts';

/**
 * How the triggers, constraints, functions and owners in the database differ from those of this version: disabled, missing, changed and foreign ones. Only
 * the owner of the schema can do that, or somebody who got its rights; who can also write which version is on record, so all is compared
 * whatever that is. A newer release has differences of its own.
 */
export async function findChangedSchema(pool: Pool): Promise<{ isNewer: boolean; faults: string[] }> {
  const { files } = loadFunctions(ownDatabase);
  return transaction(pool, async tx => {
    const { isNewer, faults } = await compareRecord(tx);
    await tx.query({ text: 'SET LOCAL search_path = pg_catalog' });
    faults.push(...(await findGuardFaults(tx)), ...(await findPartitionFaults(tx)));
    faults.push(...(await findFunctionFaults(tx, files)));
    faults.push(...(await findTableFaults(tx)), ...(await findForeignOwners(tx)));
    return { isNewer, faults };
  });
}

/** What is missing or not as it should be, and then what is there beside it. */
function compare<Expected, Found>(
  expected: Map<string, Expected>,
  found: Map<string, Found>,
  faultsOf: (expected: Expected, found: Found) => string[],
): string[] {
  const named = (faults: string[], key: string) => faults.map(fault => `${fault} ${key}`);
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
  const rows = await readRows<{ fault: string }>(db, { text });
  return rows.map(({ fault }) => fault.replace(' public.', ' '));
}

/** What a line of guards.sql makes, and of which table. */
const guard = /^(?:ALTER TABLE \w+ ADD|CREATE) ((?:CONSTRAINT|TRIGGER|UNIQUE INDEX) \w+)/;
const guarded = /(?:^ALTER TABLE| ON) (\w+)/;

/** The guards of this version, by kind, name and table. */
function readGuards(): Map<string, string> {
  const lines = readFileSync(new URL('guards.sql', ownDatabase), 'utf8').split('\n');
  return new Map(
    lines
      .filter(line => guard.test(line))
      .map(line => [`${guard.exec(line)![1]!.toLowerCase()} on ${guarded.exec(line)![1]}`, line]),
  );
}

/**
 * The constraints, unique indexes and triggers in the database, by kind, name and table: the statements that make them, each in one
 * line. A partition has those of its table: it cannot lose constraints, and its triggers are compared apart. PostgreSQL 18 also lists
 * NOT NULL (contype n); older versions do not.
 */
export async function listGuards(db: Queryable): Promise<Map<string, string>> {
  const rows = await readRows<{ key: string; statement: string }>(db, {
    text: `SELECT format('%s %s on %s', g.kind, g.name, c.relname) AS key,
                  regexp_replace(replace(g.statement, 'public.', ''), '\\s*\\n\\s*', ' ', 'g') || ';' AS statement
             FROM (SELECT 'constraint' AS kind, x.conname AS name, x.conrelid AS table_id,
                          format('ALTER TABLE %s ADD CONSTRAINT %I %s', x.conrelid::regclass, x.conname,
                                 pg_get_constraintdef(x.oid, true)) AS statement
                     FROM pg_constraint x WHERE x.contype NOT IN ('n', 't')
                   UNION ALL
                   SELECT 'unique index', i.relname, x.indrelid,
                          replace(pg_get_indexdef(i.oid, 0, true), ' ON ONLY ', ' ON ') || CASE WHEN x.indisvalid THEN '' ELSE ' INVALID' END
                     FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
                    WHERE x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.oid AND o.conrelid = x.indrelid)
                   UNION ALL
                   SELECT 'trigger', t.tgname, t.tgrelid,
                          pg_get_triggerdef(t.oid, true) || CASE t.tgenabled WHEN 'O' THEN '' ELSE
                            format('; ALTER TABLE %s %s TRIGGER %I', t.tgrelid::regclass,
                                   CASE t.tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'DISABLE' END, t.tgname) END
                     FROM pg_trigger t WHERE NOT t.tgisinternal) AS g
             JOIN pg_class c ON c.oid = g.table_id JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'public' AND NOT c.relispartition ORDER BY c.relname, g.kind, g.name`,
  });
  return new Map(rows.map(({ key, statement }) => [key, statement]));
}

/** What sets for which sessions a trigger is on; nothing for the usual ones, without those that replicate. */
const enabledFor = (statement: string) => statement.split('; ALTER TABLE ')[1];

/** Faults of the constraints, unique indexes and triggers. The connection must search no schema but `pg_catalog`. */
const findGuardFaults = async (db: Queryable) =>
  compare(readGuards(), await listGuards(db), (statement, actual) => {
    if (enabledFor(actual) !== enabledFor(statement)) return ['disabled'];
    return actual === statement ? [] : ['changed'];
  });

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
  const rows = await readRows<{
    name: string;
    body: string;
    hasOwnersRights: boolean;
    isOwners: boolean;
    settings: string;
  }>(db, {
    text: `SELECT p.proname AS name, p.prosrc AS body, p.prosecdef AS "hasOwnersRights",
                  p.proowner = (SELECT relowner FROM pg_class WHERE oid = 'public.payments'::regclass) AS "isOwners",
                  (SELECT coalesce(string_agg(s, '; ' ORDER BY s COLLATE "C"), '') FROM unnest(p.proconfig) s) AS settings
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = 'public' AND ${notOfExtension('p', 'pg_proc')} ORDER BY 1`,
  });
  const found = Map.groupBy(rows, ({ name }) => `function ${name}`);
  const expected = new Map(
    files.map(file => [`function ${file.name.replace('.sql', '')}`, parseFunction(file)] as const),
  );
  return compare(expected, found, ({ body, hasOwnersRights, settings }, ofName) => {
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
