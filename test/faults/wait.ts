import { setTimeout as sleep } from 'node:timers/promises';

const pollIntervalMs = 20;
/** Nobody waits so long for a fault to be over: what may take less time is a limit of its own, which only quick machines check. */
const withinMs = 120_000;

/** Resolves with the milliseconds until the condition held. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await sleep(pollIntervalMs);
  }
  return performance.now() - startedMs;
}

/** Whether a URL is answered with 200; false if it is not answered. */
export const answersOk = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
