import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { changedSignatures, readSignatures, releasedSignatures } from '../../database/signatures.ts';
import { listGuards } from '../../src/db/schema/changed-schema.ts';
import { checksumOf, loadFunctions, readFunctionsLock } from '../../src/db/schema/sql-functions.ts';
import { createDatabase } from '../helpers/database.ts';

const database = new URL('../../database/', import.meta.url);
const { pool } = await createDatabase();
const signatures = await readSignatures(pool);
const runSchema = 'run `npm run schema` and commit what it writes';

describe('the schema', () => {
  test('has the guards of guards.sql', async () => {
    const [, , ...lines] = readFileSync(new URL('guards.sql', database), 'utf8').trimEnd().split('\n');
    expect([...(await listGuards(pool)).values()], runSchema).toEqual(lines);
  });

  test('has each function once, in the file of its name', async () => {
    const { rows } = await pool.query(
      `SELECT proname || '.sql' AS file FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
    );
    expect(rows.map(({ file }) => file)).toEqual(readdirSync(new URL('functions/', database)).sort());
  });

  test('has a new revision for every change of its functions', () => {
    expect(checksumOf(loadFunctions(database).files), runSchema).toBe(readFunctionsLock(database).sha256);
  });

  test('keeps what old processes call: a changed signature has a new name', () => {
    expect(changedSignatures(signatures, releasedSignatures())).toEqual([]);
  });

  test('has every signature on record', () => {
    const released = releasedSignatures();
    expect(
      signatures.filter(({ name }) => !released.has(name)),
      runSchema,
    ).toEqual([]);
  });
});
