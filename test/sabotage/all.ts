import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A guard, the edit that removes it, and the test that must fail without it. */
export interface Sabotage {
  guard: string;
  file: string;
  /** `…` stands for any text. It is replaced by `to`; without it, `to` is added at the end of the file. */
  from: string;
  to: string;
  test: string;
  /** The title of a failing test starts with this. */
  failingTitle: string;
}

/** The text of the file without the guard. */
export function removeGuard(text: string, { file, from, to }: Sabotage): string {
  if (!from) return `${text}\n${to}\n`;
  const parts = from.split('…').map(part => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(parts.join('[^]*?'));
  if (!pattern.test(text))
    throw new Error(`${file} does not contain "${from}": correct it in test/sabotage/`);
  return text.replace(pattern, () => to);
}

/**
 * Reads a list of guards:
 *
 *     # the file of the tests that follow
 *     ## the file with the guards
 *     name of the guard → beginning of the title of the test that must fail
 *       - text that is replaced; … stands for any text
 *       + by this, or by nothing; without a line with - it is added at the end of the file
 *
 * What is above the first test says what the list is about.
 */
function readList(name: string): Sabotage[] {
  const entries: Sabotage[] = [];
  let [test, file] = ['', ''];
  for (const line of readFileSync(join(import.meta.dirname, name), 'utf8').split('\n')) {
    const last = entries.at(-1);
    const text = line.slice(4);
    if (line.startsWith('# ')) test = line.slice(2);
    else if (line.startsWith('## ')) file = line.slice(3);
    else if (line.startsWith('  - ') && last) last.from += `${last.from && '\n'}${text}`;
    else if (line.startsWith('  + ') && last) last.to += `${last.to && '\n'}${text}`;
    else if (test && line) {
      const [guard = '', failingTitle] = line.split(' → ');
      if (!failingTitle) throw new Error(`${name}: "${line}" names no test`);
      entries.push({ guard, file, from: '', to: '', test, failingTitle });
    }
  }
  return entries;
}

/** Of all lists of this folder. */
export const sabotages = globSync('*.txt', { cwd: import.meta.dirname })
  .sort()
  .flatMap(readList);
