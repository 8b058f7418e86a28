import { setTimeout as sleep } from 'node:timers/promises';

const lookEveryMs = 20;

/** Resolves with the milliseconds it took until the condition held, and rejects when it did not in time. */
export async function until(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await sleep(lookEveryMs);
  }
  return performance.now() - startedMs;
}
