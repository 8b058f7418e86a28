import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './after-file.ts';

/** An empty folder that is removed when the test file is done. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
