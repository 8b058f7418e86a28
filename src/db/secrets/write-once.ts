import * as fs from 'node:fs';

/**
 * Makes a file that only its owner can read, unless there is one. It is written under another name and linked into place: of
 * several processes one wins, and none reads half of it.
 */
export function writeOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, text, { mode: 0o600, flush: true });
  try {
    fs.linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(draft);
  }
}
