/**
 * `npm run schema`: writes schema.sql, signatures.txt and functions.lock from the migrations and functions. Run it after
 * changing either, and commit what it wrote.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../src/db/embedded/index.ts';
import { openPool, type Pool } from '../src/db/postgres/index.ts';
import { migrate } from '../src/db/schema/index.ts';
import { checksumOf, loadFunctions, readFunctionsLock } from '../src/db/schema/sql-functions.ts';
import { dumpSchema, readSignatures } from './dump.ts';
import { changedSignatures, releasedSignatures, signaturesFile } from './signatures.ts';

const database = new URL('./', import.meta.url);

/** Every change of the functions gets the next revision: processes compare it to find out which version is newer. */
function raiseRevision(): void {
  const { revision, sha256 } = readFunctionsLock(database);
  const current = checksumOf(loadFunctions(database).files);
  if (current !== sha256) writeFileSync(new URL('functions.lock', database), `${revision + 1} ${current}\n`);
}

/** Adds the new ones. Nothing is removed: a name that was once released is not used again for something else. */
async function addSignatures(pool: Pool): Promise<void> {
  const signatures = await readSignatures(pool);
  const released = releasedSignatures();
  const changed = changedSignatures(signatures, released);
  if (changed.length > 0) {
    console.error(`${changed.join('\n')}\nA released signature is not changed: see database/README.md.`);
    process.exitCode = 1;
    return;
  }
  for (const { name, line } of signatures) released.set(name, line);
  const lines = [...released.values()].sort();
  writeFileSync(signaturesFile, `${lines.join('\n')}\n`);
}

raiseRevision();
const dir = mkdtempSync(join(tmpdir(), 'kopeck-schema-'));
const server = await openEmbedded(dir, line => console.error(line), 'create');
const pool = openPool(server.connection);
try {
  await migrate(pool);
  writeFileSync(new URL('schema.sql', database), await dumpSchema(pool));
  await addSignatures(pool);
} finally {
  await pool.end();
  await server.close();
  rmSync(dir, { recursive: true });
}
