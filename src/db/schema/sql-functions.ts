import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Queryable, readRows } from '../postgres/index.ts';
import { readSqlFiles, runSqlFile, type SqlFile } from './migrations.ts';

export type FunctionSet = ReturnType<typeof loadFunctions>;

/** All SQL functions of this version. */
export const loadFunctions = (database: URL) => ({
  /** Grows with every change of the set, so that of two versions the newer one is known. */
  revision: readFunctionsLock(database).revision,
  files: readSqlFiles(new URL('functions/', database)),
});

/** What `npm run schema` wrote last: a revision, and the checksum of the files it stands for. */
export function readFunctionsLock(database: URL): { revision: number; sha256: string } {
  const [revision, sha256 = ''] = readFileSync(new URL('functions.lock', database), 'utf8').trim().split(' ');
  return { revision: Number(revision), sha256 };
}

export function checksumOf(files: Pick<SqlFile, 'name' | 'sha256'>[]): string {
  const hash = createHash('sha256');
  for (const { name, sha256 } of files) hash.update(`${name} ${sha256}\n`);
  return hash.digest('hex');
}

export const functionsTable = `CREATE TABLE IF NOT EXISTS schema_functions (
  name text PRIMARY KEY, sha256 text NOT NULL, revision int NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`;

/**
 * How the functions in the database compare with ours. An older process must leave newer ones alone: processes of the
 * newer version use them.
 */
export async function compareFunctions(
  db: Queryable,
  set: FunctionSet,
): Promise<'current' | 'outdated' | 'newer'> {
  const rows = await readRows<{ name: string; sha256: string; revision: number }>(db, {
    text: 'SELECT name, sha256, revision FROM schema_functions ORDER BY name COLLATE "C"',
  });
  const applied = rows[0]?.revision ?? 0;
  if (applied > set.revision) return 'newer';
  const isCurrent = applied === set.revision && checksumOf(rows) === checksumOf(set.files);
  return isCurrent ? 'current' : 'outdated';
}

/**
 * Creates or replaces all functions and drops those whose file is gone. Functions with the rights of the owner keep the search
 * path that is set here (`SET search_path FROM CURRENT`): no other schema may come before ours, and no file names it.
 */
export async function applyFunctions(tx: Queryable, { files, revision }: FunctionSet): Promise<void> {
  const rows = await readRows<{ name: string }>(tx, { text: 'DELETE FROM schema_functions RETURNING name' });
  const kept = new Set(files.map(functionOf));
  const gone = new Set(rows.map(functionOf).filter(name => !kept.has(name)));
  await tx.query({ text: 'SET LOCAL search_path = public, pg_temp' });
  for (const file of files) await runSqlFile(tx, file);
  for (const name of gone) await tx.query({ text: `DROP FUNCTION IF EXISTS ${name}` });
  await tx.query({
    text: `INSERT INTO schema_functions (name, sha256, revision)
             SELECT name, sha256, $3 FROM unnest($1::text[], $2::text[]) AS f (name, sha256)`,
    values: [files.map(({ name }) => name), files.map(({ sha256 }) => sha256), revision],
  });
}

/** Those of earlier versions in a folder of their own replaced one of the same name. */
const functionOf = ({ name }: Pick<SqlFile, 'name'>) => name.replace('citus/', '').replace('.sql', '');
