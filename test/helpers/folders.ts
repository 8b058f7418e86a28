import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { afterFile } from './after-file.ts';

/** An empty folder that is removed at the end of the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A DATA_DIR with the key that a first start creates, for commands on a database elsewhere. */
export function folderWithKey(): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'secret.key'), 'a key that the first start made, long enough', { mode: 0o600 });
  return folder;
}

/** A DATA_DIR that already has a key and an empty, stopped database: creating one takes seconds. */
export function usedFolder(folder = folderWithKey()): string {
  execFileSync('cp', ['-a', `${inject('usedDataDir')}/.`, folder]);
  return folder;
}
