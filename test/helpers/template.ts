import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';

const repository = join(import.meta.dirname, '../..');
const kept = join(repository, 'node_modules/.cache/test-database');
/** What the folder is made of and by. Also in a copy for mutation tests, which has no lock file. */
const sources = ['database', 'src/db', 'package.json'];
const keptCount = 3;

/**
 * A DATA_DIR with a migrated database whose server is stopped. It is kept from run to run, since to make it takes three
 * seconds, and many more on a busy machine.
 */
export async function templateFolder(): Promise<string> {
  const folder = join(kept, `${process.getuid?.()}-${hashOf(sources)}`);
  if (fs.existsSync(folder)) {
    fs.utimesSync(folder, new Date(), new Date());
    return folder;
  }
  fs.mkdirSync(kept, { recursive: true });
  removeOldest();
  const draft = fs.mkdtempSync(join(tmpdir(), 'kopeck-template-'));
  const made = await openDatabase(readSettings({ DATA_DIR: draft }), () => {}, 'create');
  // Every test copies it, and a copy of a database that was started is not open.
  await made.pool.query('DELETE FROM incarnations');
  await made.close();
  const copy = `${folder}.new-${process.pid}`;
  execFileSync('cp', ['-a', draft, copy]);
  fs.rmSync(draft, { recursive: true });
  try {
    fs.renameSync(copy, folder);
  } catch {
    // Another run was faster.
    fs.rmSync(copy, { recursive: true });
  }
  return folder;
}

function hashOf(paths: string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const isFolder = fs.statSync(join(repository, path)).isDirectory();
    const names = isFolder
      ? fs.readdirSync(join(repository, path), { recursive: true, encoding: 'utf8' })
      : [''];
    for (const name of names.sort()) {
      const file = join(repository, path, name);
      if (fs.statSync(file).isFile()) hash.update(`${path}/${name}\0`).update(fs.readFileSync(file));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** A run of the mutation tests makes one per changed SQL file. */
function removeOldest(): void {
  const folders = fs
    .readdirSync(kept)
    .map(name => join(kept, name))
    .sort((one, other) => fs.statSync(other).mtimeMs - fs.statSync(one).mtimeMs);
  for (const folder of folders.slice(keptCount - 1)) fs.rmSync(folder, { recursive: true, force: true });
}
