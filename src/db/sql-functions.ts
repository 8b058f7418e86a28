import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readSqlFiles, runSqlFile, type SqlFile } from './migrations.ts';
import type { Queryable } from './pool.ts';
import { bindFunctions, citusFunctions, distributedShards, prepareCitus } from './shards/citus.ts';
import { listShards, pathOf, schemaOf, schemasOf } from './shards/layout.ts';
import { createViews } from './shards/views.ts';

/** All SQL functions of this version. */
export interface FunctionSet {
  /** Grows with every change of the set, so that of two versions the newer one is known. */
  revision: number;
  files: SqlFile[];
  /** Forms for shards on Citus, and functions that only these have. */
  citus: SqlFile[];
}

export const loadFunctions = (database: URL): FunctionSet => ({
  revision: readFunctionsLock(database).revision,
  files: readSqlFiles(new URL('functions/', database)),
  citus: readCitusFunctions(new URL('citus/functions/', database)),
});

/** A set may have none. */
const readCitusFunctions = (folder: URL) => (existsSync(folder) ? readSqlFiles(folder) : []);

/** All files of a set, by the names under which they are on record. */
export const recordsOf = ({ files, citus }: FunctionSet): Pick<SqlFile, 'name' | 'sha256'>[] =>
  [...files, ...citus.map(({ name, sha256 }) => ({ name: `citus/${name}`, sha256 }))].sort((one, other) =>
    one.name < other.name ? -1 : 1,
  );

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
  const { rows } = await db.query<{ name: string; sha256: string; revision: number }>({
    text: 'SELECT name, sha256, revision FROM schema_functions ORDER BY name COLLATE "C"',
  });
  const applied = rows[0]?.revision ?? 0;
  if (applied > set.revision) return 'newer';
  const isCurrent = applied === set.revision && checksumOf(rows) === checksumOf(recordsOf(set));
  return isCurrent ? 'current' : 'outdated';
}

/**
 * Creates or replaces all functions and drops those whose file is gone, in every shard. Functions with the rights of the
 * owner keep the search path that is set here (`SET search_path FROM CURRENT`): no other schema may come before ours, and no
 * file names it.
 */
export async function applyFunctions(tx: Queryable, set: FunctionSet): Promise<void> {
  const shards = await listShards(tx);
  const records = recordsOf(set);
  const names = records.map(({ name }) => name);
  const { rows } = await tx.query<{ name: string }>({
    text: 'DELETE FROM schema_functions RETURNING name',
  });
  const kept = new Set(names.map(functionOf));
  const gone = new Set(rows.map(({ name }) => functionOf(name)).filter(name => !kept.has(name)));
  const distributed = (await distributedShards(tx, shards)).map(schemaOf);
  if (distributed.length > 0) await prepareCitus(tx);
  if (shards.length > 1) await createViews(tx, shards);
  for (const schema of schemasOf(shards)) {
    await createFunctions(tx, set, schema, distributed.includes(schema));
    for (const name of gone) await tx.query({ text: `DROP FUNCTION IF EXISTS ${schema}.${name}` });
  }
  await tx.query({ text: 'SET LOCAL search_path = public, pg_temp' });
  await tx.query({
    text: `INSERT INTO schema_functions (name, sha256, revision)
             SELECT name, sha256, $3 FROM unnest($1::text[], $2::text[]) AS f (name, sha256)`,
    values: [names, records.map(({ sha256 }) => sha256), set.revision],
  });
}

/** The name of the function, for the name of a file on record. */
const functionOf = (name: string) => name.replace('citus/', '').replace('.sql', '');

/** Creates or replaces the functions of one schema. */
export async function createFunctions(
  tx: Queryable,
  { files, citus }: FunctionSet,
  schema: string,
  isDistributed: boolean,
): Promise<void> {
  await tx.query({ text: `SET LOCAL search_path = ${pathOf(schema)}, pg_temp` });
  for (const file of isDistributed ? citusFunctions(files, citus) : files) await runSqlFile(tx, file);
  if (isDistributed) await bindFunctions(tx, schema);
}
