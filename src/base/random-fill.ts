import { randomFillSync } from 'node:crypto';

/**
 * A function that writes `size` random bytes into a buffer. They are generated in bulk, which is cheaper: every request gets an
 * id, and every order has something sealed.
 */
export function createRandomFill(size: number): (target: Buffer, at: number) => void {
  const pool = Buffer.allocUnsafe(size * 512);
  let used = pool.length;
  return (target, at) => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    pool.copy(target, at, used, used + size);
    used += size;
  };
}
