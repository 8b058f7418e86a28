import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { BatcherFullError, createBatcher } from '../../src/db/batching/batch.ts';
import { createRunPlaces } from '../../src/db/batching/own-lanes.ts';

class LockTimeout extends Error {}

/** Items are named by their key and a number. Calls end only when the test ends them. */
function setup({ runs = createRunPlaces(1), maxWaitingApart = 10 } = {}) {
  const calls: { call: string; succeed(): Promise<void>; fail(error?: Error): Promise<void> }[] = [];
  const locked = new Set<string>();
  const keyOf = (item: string) => item[0]!;
  let nowMs = 0;
  let wake = () => {};
  let lateAnswer: Promise<void> | undefined;
  const clock: Clock = {
    ...systemClock,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: ms =>
      new Promise(resolve => {
        wake = () => {
          nowMs += ms;
          resolve();
        };
      }),
  };
  const enqueue = createBatcher<string, string>({
    run: (items, lockWait) =>
      new Promise((resolve, reject) => {
        calls.push({
          call: `${lockWait} ${items.join(' ')}`,
          succeed: () => settle(() => resolve(items.map(item => item.toUpperCase()))),
          fail: (error = new LockTimeout()) => settle(() => reject(error)),
        });
      }),
    isItemError: () => false,
    maxBatch: 4,
    maxWaiting: 10,
    gather: nextTurn,
    ownLanes: {
      keyOf,
      isLockTimeout: error => error instanceof LockTimeout,
      findLocked: async items => {
        const found = items.filter(item => locked.has(keyOf(item)));
        const late = lateAnswer;
        lateAnswer = undefined;
        await late;
        return found;
      },
      clock,
      maxWaitMs: 100,
      runs,
      maxWaitingApart,
    },
  });
  async function settle(end: () => void): Promise<void> {
    end();
    await allTurns();
  }
  const poll = () => settle(() => wake());
  const add = async (...items: string[]) => {
    const answers = items.map(item => enqueue(item).catch((error: Error) => error.constructor.name));
    await allTurns();
    return answers;
  };
  /** The answer of the next poll arrives only when the returned function is called. */
  const delayPoll = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    lateAnswer = promise;
    return () => settle(resolve);
  };
  const sent = () => calls.map(({ call }) => call);
  return { calls, sent, locked, add, poll, enqueue, delayPoll };
}

const nextTurn = () => new Promise<void>(resolve => setImmediate(resolve));
async function allTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

test('without a lock a batch is one call, with a short wait', async () => {
  const { calls, sent, add } = setup();
  const answers = await add('a1', 'b1');
  await calls[0]!.succeed();
  expect(await Promise.all(answers)).toEqual(['A1', 'B1']);
  expect(sent()).toEqual(['short a1 b1']);
});

test('a batch goes on without the locked key, whose items wait alone and in order', async () => {
  const { calls, sent, locked, add } = setup();
  locked.add('a');
  const first = await add('a1', 'b1');
  const behind = await add('a2', 'b2');
  await calls[0]!.fail();
  expect(sent().slice(1)).toEqual(['long a1 a2', 'short b1']);
  const newest = await add('a3');
  await calls[2]!.succeed();
  await calls[3]!.succeed();
  expect(sent().slice(3)).toEqual(['short b2']);
  locked.clear();
  await calls[1]!.succeed();
  await calls[4]!.succeed();
  expect(await Promise.all([...first, ...behind, ...newest])).toEqual(['A1', 'B1', 'A2', 'B2', 'A3']);
  // What waited behind it returned to the shared lane.
  expect(sent().slice(4)).toEqual(['short a3']);
});

test('a key that succeeded stays alone while others keep its row locked', async () => {
  const { calls, sent, locked, add } = setup();
  locked.add('a');
  await add('a1', 'b1');
  await calls[0]!.fail();
  await calls[1]!.succeed();
  await calls[2]!.succeed();
  await add('a2', 'b2');
  expect(sent().slice(3)).toEqual(['long a2', 'short b2']);
  locked.clear();
  await calls[3]!.succeed();
  await calls[4]!.succeed();
  await add('a3', 'b3');
  expect(sent().slice(5)).toEqual(['short a3 b3']);
});

test('a key that stays locked gets the error, and its next item tries again', async () => {
  const { calls, sent, locked, add } = setup();
  locked.add('a');
  const answers = await add('a1');
  await calls[0]!.fail();
  await calls[1]!.fail();
  expect(await answers[0]).toBe('LockTimeout');
  const next = await add('a2');
  await calls[2]!.succeed();
  expect(await next[0]).toBe('A2');
  expect(sent()).toEqual(['short a1', 'long a1', 'long a2']);
});

test('locked keys beyond the runs are polled together, and return when they are free', async () => {
  const { calls, sent, locked, add, poll } = setup();
  for (const key of 'abc') locked.add(key);
  const answers = await add('a1', 'b1', 'c1');
  await calls[0]!.fail();
  expect(sent().slice(1)).toEqual(['long a1']);
  await poll();
  expect(sent()).toHaveLength(2);
  locked.delete('b');
  await poll();
  expect(sent().slice(2)).toEqual(['short b1']);
  await calls[2]!.succeed();
  expect(await answers[1]).toBe('B1');
  // The one run is taken: after 100 ms in all, c1 has waited long enough.
  expect(await answers[2]).toBe('LockTimeout');
  await calls[1]!.fail();
  expect(await answers[0]).toBe('LockTimeout');
});

test('what a late poll saw does not close a lane that was made meanwhile', async () => {
  const { calls, sent, locked, add, poll, delayPoll } = setup();
  for (const key of 'ab') locked.add(key);
  await add('a1', 'b1');
  await calls[0]!.fail();
  locked.delete('b');
  const arrive = delayPoll();
  await poll();
  await calls[1]!.succeed();
  await calls[2]!.succeed();
  await add('a2');
  locked.add('b');
  const answers = await add('b2');
  await calls[4]!.fail();
  await arrive();
  await calls[3]!.succeed();
  expect(sent().slice(1)).toEqual(['long a1', 'long b1', 'long a2', 'short b2', 'long b2']);
  await calls[5]!.succeed();
  expect(await answers[0]).toBe('B2');
});

test('keys take turns in the runs', async () => {
  const { calls, sent, locked, add } = setup();
  for (const key of 'ab') locked.add(key);
  await add('a1', 'b1');
  await calls[0]!.fail();
  await add('a2');
  await calls[1]!.succeed();
  await calls[2]!.succeed();
  expect(sent().slice(1)).toEqual(['long a1', 'long b1', 'long a2']);
});

test('batchers that share their runs wait for each other, and the one that waits longest is next', async () => {
  const runs = createRunPlaces(1);
  const [one, other] = [setup({ runs }), setup({ runs })];
  for (const { locked } of [one, other]) locked.add('a').add('b');
  const answers = await one.add('a1', 'b1');
  await one.calls[0]!.fail();
  await other.add('a2');
  await other.calls[0]!.fail();
  expect([...one.sent(), ...other.sent()]).toEqual(['short a1 b1', 'long a1', 'short a2']);
  await one.calls[1]!.succeed();
  expect(await answers[0]).toBe('A1');
  expect([one.sent().at(-1), other.sent().at(-1)]).toEqual(['long b1', 'short a2']);
  await one.calls[2]!.succeed();
  expect([one.sent().at(-1), other.sent().at(-1)]).toEqual(['long b1', 'long a2']);
});

test('a lock of something that no key explains is waited for by the whole batch, as usual', async () => {
  const { calls, sent, add } = setup();
  const answers = await add('a1', 'b1');
  await calls[0]!.fail();
  await calls[1]!.fail();
  await calls[2]!.fail();
  expect(await Promise.all(answers)).toEqual(['LockTimeout', 'LockTimeout']);
  expect(sent()).toEqual(['short a1 b1', 'short a1 b1', 'long a1 b1']);
});

test('backpressure: own lanes have a limit of their own, and the shared lane is not affected', async () => {
  const { calls, locked, add, enqueue } = setup({ maxWaitingApart: 1 });
  locked.add('a');
  const first = await add('a1');
  await calls[0]!.fail();
  await add('a2');
  await expect(enqueue('a3')).rejects.toThrow(BatcherFullError);
  const other = await add('b1');
  await calls[2]!.succeed();
  expect(await other[0]).toBe('B1');
  await calls[1]!.succeed();
  expect(await first[0]).toBe('A1');
});
