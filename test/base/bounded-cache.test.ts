import { expect, test } from 'vitest';
import { createBoundedCache } from '../../src/base/bounded-cache.ts';

test('the oldest entry is evicted when the cache is full', () => {
  const cache = createBoundedCache<number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('c', 3);
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([undefined, 2, 3]);
});
