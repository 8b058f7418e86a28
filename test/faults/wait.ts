import { setTimeout as sleep } from 'node:timers/promises';

const pollIntervalMs = 20;

/** Resolves with the milliseconds until the condition held; rejects after `withinMs`. */
export async function until(
  what: string,
  withinMs: number,
  condition: () => boolean | Promise<boolean>,
): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await sleep(pollIntervalMs);
  }
  return performance.now() - startedMs;
}
