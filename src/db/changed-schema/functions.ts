import { notOfExtension } from '../extensions.ts';
import type { SqlFile } from '../migrations.ts';
import type { Queryable } from '../pool.ts';

interface Expected {
  /** Undefined: the server keeps no text of it. */
  body: string | undefined;
  hasOwnersRights: boolean;
}

/** What the file of a function makes. */
function parse({ sql }: SqlFile): Expected {
  const [head = '', body] = sql.split('$$');
  const lines = head.split('\n').filter(line => !line.startsWith('--'));
  return { body, hasOwnersRights: lines.some(line => line.includes('SECURITY DEFINER')) };
}

/** The functions of a schema that are not those of the files. `path` is where those with the rights of the owner look for names. */
export async function findFunctionFaults(
  db: Queryable,
  { schema, path, files }: { schema: string; path: string; files: SqlFile[] },
): Promise<string[]> {
  const { rows } = await db.query<{
    name: string;
    body: string;
    hasOwnersRights: boolean;
    isOwners: boolean;
    path: string | null;
  }>({
    text: `SELECT p.proname AS name, p.prosrc AS body, p.prosecdef AS "hasOwnersRights",
                  p.proowner = (SELECT relowner FROM pg_class WHERE oid = 'public.payments'::regclass) AS "isOwners",
                  (SELECT substring(s FROM '^search_path=(.*)$') FROM unnest(p.proconfig) s WHERE s LIKE 'search_path=%') AS path
             FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = $1 AND ${notOfExtension('p', 'pg_proc')} ORDER BY 1`,
    values: [schema],
  });
  const found = Map.groupBy(rows, ({ name }) => name);
  const expected = new Map(files.map(file => [file.name.replace('.sql', ''), parse(file)] as const));
  const faults: string[] = [];
  const add = (what: 'missing' | 'changed' | 'foreign', name: string) =>
    faults.push(`${what} function ${schema === 'public' ? name : `${schema}.${name}`}`);
  for (const [name, { body, hasOwnersRights }] of expected) {
    const ofName = found.get(name) ?? [];
    const isRight = ofName.some(
      one =>
        (body === undefined || body === one.body) &&
        hasOwnersRights === one.hasOwnersRights &&
        (!hasOwnersRights || (one.isOwners && one.path === path)),
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
