/** Resolves when the lock is free, in the order of requests, with a function that releases it. */
export type Acquire = () => Promise<() => void>;

export function createMutex(): Acquire {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const before = last;
    last = before.then(() => isReleased);
    await before;
    return release;
  };
}
