import type { Queryable } from '../../postgres/index.ts';
import { notOfExtension } from '../extensions.ts';
import { tableOf } from './schema-statements.ts';

/** What the statements of schema.sql make, by table and name. */
function parse(statements: string[]): Map<string, { definition: string; isAlways: boolean }> {
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

interface Found {
  table: string;
  name: string;
  definition: string;
  /** `tgenabled`: O, A, D or R. */
  enabled: string;
  isPartition: boolean;
}

/** The names in a definition have their schema while no other is searched. */
async function listTriggers(db: Queryable): Promise<Found[]> {
  const { rows } = await db.query<Found & Record<string, unknown>>({
    text: `SELECT c.relname AS table, t.tgname AS name, t.tgenabled AS enabled, c.relispartition AS "isPartition",
                  replace(pg_get_triggerdef(t.oid, true), 'public.', '') AS definition
             FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'public' AND NOT t.tgisinternal ORDER BY 1, 2`,
  });
  return rows;
}

/** Faults of the triggers: schema.sql has those that should be there. The connection must search no schema but `pg_catalog`. */
export async function findTriggerFaults(db: Queryable, statements: string[]): Promise<string[]> {
  const all = await listTriggers(db);
  const found = new Map<string, Found>(
    all.filter(one => !one.isPartition).map(one => [`${one.name} on ${one.table}`, one] as const),
  );
  const expected = parse(statements);
  const faults: string[] = [];
  const add = (what: 'missing' | 'disabled' | 'changed' | 'foreign', key: string) =>
    faults.push(`${what} trigger ${key}`);
  for (const [key, { definition, isAlways }] of expected) {
    const trigger = found.get(key);
    if (!trigger) add('missing', key);
    // One that is on only "always" would be passed over by a session that replicates.
    else if (trigger.enabled !== (isAlways ? 'A' : 'O')) add('disabled', key);
    else if (trigger.definition !== definition) add('changed', key);
  }
  for (const key of found.keys()) if (!expected.has(key)) add('foreign', key);
  return [...faults, ...(await findPartitionFaults(db))];
}

/**
 * A partition has the triggers for rows of its table, and those of the archive have one against TRUNCATE: nothing passes that on.
 */
async function findPartitionFaults(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>({
    text: `WITH partition AS (
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
  });
  return rows.map(({ fault }) => fault.replace(' public.', ' '));
}

/**
 * Other ways in which a table does not do what it seems to: rules, row security, foreign keys that are not checked, and owners who could
 * change it. The first schema belongs to the owner of the database, or to an administrator.
 */
export async function findTableFaults(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ fault: string }>({
    text: `WITH o AS (SELECT relowner AS id FROM pg_class WHERE oid = 'public.payments'::regclass)
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
  });
  return rows.map(({ fault }) => fault.replace(' public.', ' '));
}
