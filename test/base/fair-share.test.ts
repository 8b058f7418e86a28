import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { createFairShare, NoPlaceError } from '../../src/base/fair-share.ts';

/** A clock whose waits end when the test says so. */
function waitingClock() {
  const ends = new Set<() => void>();
  const timer: Clock['timer'] = (_ms, run) => {
    ends.add(run);
    return () => ends.delete(run);
  };
  const clock: Clock = { ...systemClock, timer };
  const endWaits = () => {
    for (const end of ends) end();
  };
  return { clock, endWaits };
}

function newShare({ places, placesPerOwner }: { places: number; placesPerOwner: number }) {
  const { clock, endWaits } = waitingClock();
  const share = createFairShare({ clock, places, placesPerOwner });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** Work that lasts until the test ends it. */
  const start = (name: string) =>
    share.run(
      name[0]!,
      () =>
        new Promise<string>(resolve => {
          begun.push(name);
          ends.set(name, () => resolve(name));
        }),
      1_000,
    );
  const end = async (name: string) => {
    ends.get(name)!();
    await settled();
  };
  return { share, begun, start, end, endWaits };
}
const settled = () => new Promise(resolve => setImmediate(resolve));

test('one owner leaves places to the others, however much work it has', async () => {
  const { begun, start, end } = newShare({ places: 3, placesPerOwner: 2 });
  const work = ['a1', 'a2', 'a3', 'a4', 'b1'].map(start);
  await settled();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1']) await end(name);
  expect(await Promise.all(work)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
});

test('places go to owners in turn', async () => {
  const { begun, start, end } = newShare({ places: 1, placesPerOwner: 1 });
  // The first waits for nothing; after that, each owner has one turn before any has a second.
  const work = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(start);
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
    await settled();
    expect(begun.at(-1)).toBe(name);
    await end(name);
  }
  await Promise.all(work);
});

test('work that waits too long is not begun, and leaves its turn to others', async () => {
  const { begun, start, end, endWaits } = newShare({ places: 1, placesPerOwner: 1 });
  const first = start('a1');
  const late = [start('a2'), start('b1')].map(work => work.catch(error => error));
  await settled();
  endWaits();
  for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(NoPlaceError);
  const next = start('c1');
  await end('a1');
  expect(begun).toEqual(['a1', 'c1']);
  await end('c1');
  expect([await first, await next]).toEqual(['a1', 'c1']);
});

test('a place is free again after work that failed, and after a wait that ended too late', async () => {
  const { share, begun, start, end, endWaits } = newShare({ places: 1, placesPerOwner: 1 });
  const failing = share.run('a', () => Promise.reject(new Error('failed')), 1_000);
  const waiting = start('b1');
  await expect(failing).rejects.toThrow('failed');
  await settled();
  expect(begun).toEqual(['b1']);
  endWaits();
  await end('b1');
  expect(await waiting).toBe('b1');
});
