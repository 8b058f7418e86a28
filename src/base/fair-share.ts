import type { Clock } from './clock.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** The work waited too long for a place and was not begun. */
export class NoPlaceError extends Error {}

export interface FairShareOptions {
  clock: Clock;
  places: number;
  /** Less than all places, so that one owner always leaves some to the others. */
  placesPerOwner: number;
}

type Leave = () => void;

/**
 * A bounded number of places for the work of many owners, such as partners. Places go to owners in turn: the work that one owner has waiting never delays the work of another.
 */
export function createFairShare({ clock, places, placesPerOwner }: FairShareOptions) {
  const underWay = createConcurrencyLimit();
  let taken = 0;
  /** Owners in the order of their turns, each with its work in the order of arrival. */
  const queues = new Map<string, ((leave: Leave) => void)[]>();

  /** Work that arrives or ends makes at most one place usable, so one is given. */
  function givePlace(): void {
    if (taken >= places) return;
    for (const [owner, queue] of queues) {
      const leaveOwner = underWay.enter(owner, placesPerOwner);
      if (!leaveOwner) continue;
      taken += 1;
      const enter = queue.shift()!;
      queues.delete(owner);
      if (queue.length > 0) queues.set(owner, queue);
      enter(() => {
        leaveOwner();
        taken -= 1;
        givePlace();
      });
      return;
    }
  }

  const takePlace = (owner: string, maxWaitMs: number) =>
    new Promise<Leave>((resolve, reject) => {
      const queue = queues.get(owner) ?? [];
      const late = () => {
        queue.splice(queue.indexOf(enter), 1);
        if (queue.length === 0) queues.delete(owner);
        reject(new NoPlaceError('no place became free in time'));
      };
      const cancel = clock.timer(maxWaitMs, late);
      const enter = (leave: Leave) => {
        cancel();
        resolve(leave);
      };
      queues.set(owner, queue);
      queue.push(enter);
      givePlace();
    });

  return {
    /** Does the work as soon as its owner has a place; fails with `NoPlaceError` if that takes longer than `maxWaitMs`. */
    run: async <Result>(owner: string, work: () => Promise<Result>, maxWaitMs: number) => {
      const leave = await takePlace(owner, maxWaitMs);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
