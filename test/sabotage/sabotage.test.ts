import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { removeGuard, sabotages } from './all.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

/** `npm run sabotage` takes minutes; this finds at once that a guard was moved or a test renamed. */
test.each(sabotages)('$guard: its code and its test are found', sabotage => {
  const text = read(sabotage.file);
  expect(removeGuard(text, sabotage)).not.toBe(text);
  // A guard that is gone is found with every change, not before the next release.
  expect(sabotage.test).not.toContain('.long.test.ts');
  const tests = read(sabotage.test);
  // Titles of test.each are put together when the tests run.
  expect(tests.includes(sabotage.failingTitle) || /test\.(each|for)/.test(tests)).toBe(true);
});

test('each guard has a name of its own', () => {
  const names = sabotages.map(({ guard }) => guard);
  expect(names).toEqual([...new Set(names)]);
});
