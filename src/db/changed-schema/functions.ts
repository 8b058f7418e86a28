import { notOfExtension } from '../extensions.ts';
import type { SqlFile } from '../migrations.ts';
import type { Queryable } from '../pool.ts';
import { boundSettings } from '../shards/citus.ts';

type Settings = Map<string, string>;

interface Expected {
  /** Undefined: the server keeps no text of it. */
  body: string | undefined;
  hasOwnersRights: boolean;
  isPlpgsql: boolean;
  settings: Settings;
}

/** What the file of a function makes. `path` is the current one. */
function parse({ sql }: SqlFile, path: string): Expected {
  const [all = '', body] = sql.split('$$');
  const lines = all.split('\n').filter(line => !line.startsWith('--'));
  const head = lines.join('\n');
  const settings: Settings = new Map();
  for (const [, name = '', value = ''] of head.matchAll(/\bSET ([\w.]+) (?:=|FROM) (\S+)/g))
    settings.set(name, value === 'CURRENT' ? path : value.replaceAll("'", ''));
  return {
    body,
    hasOwnersRights: head.includes('SECURITY DEFINER'),
    isPlpgsql: head.includes('LANGUAGE plpgsql'),
    settings,
  };
}

/** As the catalog has them, in order. */
const format = (settings: Settings) =>
  [...settings]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('; ');

/** The functions of a schema that are not those of the files. `path` is where those that keep their path look for names. */
export async function findFunctionFaults(
  db: Queryable,
  {
    schema,
    path,
    files,
    isDistributed,
  }: { schema: string; path: string; files: SqlFile[]; isDistributed: boolean },
): Promise<string[]> {
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
            WHERE n.nspname = $1 AND ${notOfExtension('p', 'pg_proc')} ORDER BY 1`,
    values: [schema],
  });
  const found = Map.groupBy(rows, ({ name }) => name);
  const expected = new Map(files.map(file => [file.name.replace('.sql', ''), parse(file, path)] as const));
  const faults: string[] = [];
  const add = (what: 'missing' | 'changed' | 'foreign', name: string) =>
    faults.push(`${what} function ${schema === 'public' ? name : `${schema}.${name}`}`);
  for (const [name, { body, hasOwnersRights, isPlpgsql, settings: ofFile }] of expected) {
    const settings = format(isDistributed && isPlpgsql ? boundSettings(name, ofFile, path) : ofFile);
    const ofName = found.get(name) ?? [];
    const isRight = ofName.some(
      one =>
        (body === undefined || body === one.body) &&
        hasOwnersRights === one.hasOwnersRights &&
        one.isOwners &&
        one.settings === settings,
    );
    if (!isRight) add(ofName.length === 0 ? 'missing' : 'changed', name);
    // One with other arguments may be called instead of ours.
    if (ofName.length > 1) add('foreign', name);
  }
  for (const name of found.keys()) if (!expected.has(name)) add('foreign', name);
  return faults;
}

/** Functions elsewhere that have the rights of their owner. */
export async function findForeignOwners(db: Queryable, schemas: string[]): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>({
    text: `SELECT format('%I.%I', n.nspname, p.proname) AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE p.prosecdef AND n.nspname <> ALL ($1) AND n.nspname NOT IN ('pg_catalog', 'information_schema')
              AND ${notOfExtension('p', 'pg_proc')}
            ORDER BY 1`,
    values: [schemas],
  });
  return rows.map(({ name }) => `foreign function ${name} with the rights of its owner`);
}
