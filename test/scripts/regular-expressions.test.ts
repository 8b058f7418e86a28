import { describe, expect, test } from 'vitest';
import { listRegularExpressions, partsOf } from '../../scripts/regular-expressions.ts';
import { canonicalJson, parseJson } from '../../src/base/json.ts';

/** Quadratic time takes a minute and more at this length, linear time a millisecond. So these tests need no clock. */
const length = 100_000;

const generic = ['0', 'a', 'A', ' ', '\n', '/', '.', '-', 'é', '01', 'a.', '/a'];

/** Fragments that a search may take for its beginning: the expression's own characters, and common ones. */
const fragmentsOf = (pattern: string) => [
  ...generic,
  ...new Set(pattern.replaceAll(/\\[a-zA-Z]|[[\](){}|^$*+?\\]/g, '')),
];

describe('no regular expression takes more than linear time', () => {
  const expressions = [...listRegularExpressions().keys()];

  test('the list has those of the code and of the schemas', () => {
    expect(expressions).toContain('/^evt_\\d+$/u');
    expect(expressions.length).toBeGreaterThan(100);
  });

  test.each(expressions)('%s', expression => {
    const [pattern, flags] = partsOf(expression);
    for (const fragment of fragmentsOf(pattern)) {
      const many = fragment.repeat(Math.ceil(length / fragment.length));
      for (const text of [`${many}\u0000`, `1${many}1`, `"${many}`, `x${many}x${many}`])
        text.replace(new RegExp(pattern, flags), '');
    }
  });
});

test('a number of many digits is canonical in linear time', () => {
  const zeros = '0'.repeat(length);
  const canonical = (number: string) => canonicalJson(parseJson(`{"a":${number}}`));
  expect(canonical(`1${zeros}1`)).toBe(`{"a":1${zeros}1e0}`);
  expect(canonical(`1${zeros}`)).toBe(`{"a":1e${length}}`);
  expect(canonical(`0.${zeros}1`)).toBe(`{"a":1e-${length + 1}}`);
  expect(canonical(`0.${zeros}`)).toBe('{"a":0}');
});
