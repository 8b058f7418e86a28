import { expect, test } from 'vitest';
import { BatcherFullError, createBatcher, whileOthersJoin } from '../../src/db/batching/batch.ts';

/** A batcher whose calls end only when the test ends them. */
function setup(options: Partial<Parameters<typeof createBatcher<string, string>>[0]> = {}) {
  const calls: { items: string[]; succeed(): void; fail(error: Error): void }[] = [];
  const enqueue = createBatcher<string, string>({
    run: items =>
      new Promise((resolve, reject) => {
        calls.push({ items, succeed: () => resolve(items.map(item => item.toUpperCase())), fail: reject });
      }),
    isItemError: () => false,
    maxBatch: 3,
    maxWaiting: 5,
    ...options,
  });
  return { calls, enqueue };
}

const nextTurn = () => new Promise(resolve => setImmediate(resolve));

test('a lone call is sent at once; calls that arrive meanwhile share a batch, up to the limit', async () => {
  const { calls, enqueue } = setup();
  const answers = ['a', 'b', 'c', 'd', 'e'].map(enqueue);
  expect(calls.map(({ items }) => items)).toEqual([['a']]);
  calls[0]!.succeed();
  await nextTurn();
  calls[1]!.succeed();
  await nextTurn();
  calls[2]!.succeed();
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D', 'E']);
  expect(calls.map(({ items }) => items)).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
});

test('gathering delays no full batch', async () => {
  const gathered: (() => void)[] = [];
  const gather = () => new Promise<void>(resolve => void gathered.push(resolve));
  const { calls, enqueue } = setup({ gather, maxWaiting: 10 });
  const answers = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(enqueue);
  gathered[0]!();
  await nextTurn();
  calls[0]!.succeed();
  await nextTurn();
  calls[1]!.succeed();
  await nextTurn();
  expect(calls.map(({ items }) => items)).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e', 'f'],
  ]);
  gathered[1]!();
  await nextTurn();
  calls[2]!.succeed();
  expect(await Promise.all(answers)).toHaveLength(7);
});

test('a batch waits one more turn for others when some have joined, and no longer', async () => {
  const { calls, enqueue } = setup({ gather: whileOthersJoin, maxBatch: 10, maxWaiting: 10 });
  const answers = [enqueue('a')];
  await nextTurn();
  expect(calls[0]!.items).toEqual(['a']);
  answers.push(enqueue('b'));
  calls[0]!.succeed();
  for (const item of ['c', 'd', 'e', 'f']) {
    await nextTurn();
    answers.push(enqueue(item));
  }
  expect(calls[1]!.items).toEqual(['b', 'c', 'd']);
  calls[1]!.succeed();
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  calls[2]!.succeed();
  expect(await Promise.all(answers)).toHaveLength(6);
});

test('backpressure: past the limit of waiting callers the next is refused at once', async () => {
  const { calls, enqueue } = setup({ maxWaiting: 2 });
  const accepted = [enqueue('a'), enqueue('b'), enqueue('c')];
  await expect(enqueue('d')).rejects.toThrow(BatcherFullError);
  calls[0]!.succeed();
  await nextTurn();
  calls[1]!.succeed();
  expect(await Promise.all(accepted)).toEqual(['A', 'B', 'C']);
});

test('an error that no item caused fails the whole batch, and the next batch goes on', async () => {
  const { calls, enqueue } = setup();
  const first = enqueue('a');
  const outcomes = Promise.allSettled([enqueue('b'), enqueue('c')]);
  calls[0]!.succeed();
  await first;
  await nextTurn();
  calls[1]!.fail(new Error('the database is gone'));
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = enqueue('d');
  calls[2]!.succeed();
  expect(await next).toBe('D');
});

test('one item that cannot be carried out does not fail the others', async () => {
  const enqueue = createBatcher<number, number>({
    run: async items => {
      if (items.includes(13)) throw new Error('unlucky');
      return items.map(item => item * 2);
    },
    isItemError: () => true,
    maxBatch: 100,
    maxWaiting: 100,
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, item) => enqueue(item)));
  expect(
    outcomes.map(outcome => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
  ).toEqual(Array.from({ length: 20 }, (_, item) => (item === 13 ? 'unlucky' : item * 2)));
});
