import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const map = readFileSync(join(root, 'contract-map.md'), 'utf8');

/** A file and the names that follow it: `api/list.test.ts` "the list", "nobody sees". */
const references = Array.from(
  map.matchAll(/`([a-z-]+\/[a-z-]+\.test\.ts)`((?:,? "[^"]*")*)/g),
  ([, file = '', names = '']) => ({
    file,
    names: Array.from(names.matchAll(/"([^"]*)"/g), ([, name]) => name!),
  }),
);

test('every test that the contract map names exists', () => {
  expect(references.length).toBeGreaterThan(100);
  const missing = references.flatMap(({ file, names }) => {
    const path = join(root, file);
    if (!existsSync(path)) return [file];
    const text = readFileSync(path, 'utf8');
    // "…" stands for the rest of a name, or for a value of test.each.
    const isThere = (name: string) => name.split('…').every(part => text.includes(part.trim()));
    return names.filter(name => !isThere(name)).map(name => `${file} "${name}"`);
  });
  expect(missing).toEqual([]);
});
