import { expect, test } from 'vitest';
import { createRecent } from '../../src/base/recent.ts';

test('keeps what was added last, and no more than it may', () => {
  const recent = createRecent<number>(2);
  recent.add('a', 1);
  recent.add('b', 2);
  recent.add('c', 3);
  expect(['a', 'b', 'c'].map(recent.get)).toEqual([undefined, 2, 3]);
});
