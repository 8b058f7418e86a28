import type { Queryable } from '../../postgres/index.ts';
import { notOfExtension } from '../extensions.ts';
import type { SqlFile } from '../migrations.ts';

type Settings = Map<string, string>;

interface Expected {
  /** Undefined: the server keeps no text of it. */
  body: string | undefined;
  hasOwnersRights: boolean;
  settings: Settings;
}

/** Where functions that keep their path look for names. */
const path = 'public, pg_temp';

/** What the file of a function makes. */
function parse({ sql }: SqlFile): Expected {
  const [all = '', body] = sql.split('$$');
  const lines = all.split('\n').filter(line => !line.startsWith('--'));
  const head = lines.join('\n');
  const settings: Settings = new Map();
  for (const [, name = '', value = ''] of head.matchAll(/\bSET (\w+) (?:=|FROM) (\S+)/g))
    settings.set(name, value === 'CURRENT' ? path : value.replaceAll("'", ''));
  return {
    body,
    hasOwnersRights: head.includes('SECURITY DEFINER'),
    settings,
  };
}

/** As the catalog has them, in order. */
const format = (settings: Settings) =>
  [...settings]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('; ');

/** Functions that are not those of the files. */
export async function findFunctionFaults(db: Queryable, files: SqlFile[]): Promise<string[]> {
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
  const expected = new Map(files.map(file => [file.name.replace('.sql', ''), parse(file)] as const));
  const faults: string[] = [];
  const add = (what: 'missing' | 'changed' | 'foreign', name: string) =>
    faults.push(`${what} function ${name}`);
  for (const [name, { body, hasOwnersRights, settings }] of expected) {
    const ofName = found.get(name) ?? [];
    const isRight = ofName.some(
      one =>
        (body === undefined || body === one.body) &&
        hasOwnersRights === one.hasOwnersRights &&
        one.isOwners &&
        one.settings === format(settings),
    );
    if (!isRight) add(ofName.length === 0 ? 'missing' : 'changed', name);
    // One with other arguments may be called instead of ours.
    if (ofName.length > 1) add('foreign', name);
  }
  for (const name of found.keys()) if (!expected.has(name)) add('foreign', name);
  return faults;
}

/** Functions elsewhere that have the rights of their owner. */
export async function findForeignOwners(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    text: `SELECT format('%I.%I', n.nspname, p.proname) AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE p.prosecdef AND n.nspname NOT IN ('public', 'pg_catalog', 'information_schema')
              AND ${notOfExtension('p', 'pg_proc')}
            ORDER BY 1`,
  });
  return rows.map(({ name }) => `foreign function ${name} with the rights of its owner`);
}
