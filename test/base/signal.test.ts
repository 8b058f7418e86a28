import { expect, test } from 'vitest';
import { createSignal } from '../../src/base/signal.ts';

test('a signal calls its subscribers in order, with the value', () => {
  const signal = createSignal<number>();
  const calls: string[] = [];
  signal.emit(1);
  signal.subscribe(value => calls.push(`first ${value}`));
  signal.subscribe(value => calls.push(`second ${value}`));
  signal.emit(2);
  expect(calls).toEqual(['first 2', 'second 2']);
});
