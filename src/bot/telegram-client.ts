import type { ApiClientOptions, Transformer } from 'grammy';
import type { Clock } from '../base/clock.ts';
import { createFetch } from '../http-client/index.ts';

/** A hundred updates with the longest texts have less. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** How the library calls Telegram. Its own `fetch` reads answers of any length. */
export const telegramClient = (clock: Clock, apiRoot: string, timeoutMs: number): ApiClientOptions => ({
  apiRoot,
  // The types of the library are those of another `fetch`.
  fetch: createFetch({ clock, timeoutMs, maxBytes: maxAnswerBytes }) as unknown as NonNullable<
    ApiClientOptions['fetch']
  >,
});

/** How long a graceful shutdown waits for calls to Telegram that are still open. */
const graceMs = 3_000;

/** Part of graceful shutdown: aborts all API calls a moment after the signal, also those that start later. */
export function abortCallsOnShutdown(clock: Clock, stopping: AbortSignal): Transformer {
  const expired = new AbortController();
  const startGracePeriod = () => clock.timer(graceMs, () => expired.abort());
  stopping.addEventListener('abort', startGracePeriod, { once: true });
  return (call, method, payload, signal) => {
    const either = signal ? AbortSignal.any([signal as AbortSignal, expired.signal]) : expired.signal;
    return call(method, payload, either as typeof signal);
  };
}

const maxAttempts = 4;
const maxWaitSec = 20;
/** Their callers have retry loops of their own, and log each failure. */
const notRetried: ReadonlySet<string> = new Set(['getUpdates', 'getMe', 'setWebhook', 'deleteWebhook']);

/**
 * Retries calls of conversations, where a person waits for the result: short `retry_after` waits are kept, server errors
 * and broken connections are repeated with backoff. A message may then arrive twice, which is better than not at all.
 */
export function retryCalls(clock: Clock, stopping: AbortSignal): Transformer {
  return async (call, method, payload, signal) => {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === maxAttempts || stopping.aborted || notRetried.has(method);
      try {
        const result = await call(method, payload, signal);
        if (result.ok || isLast) return result;
        const waitSec = result.parameters?.retry_after ?? attempt / 4;
        if ((result.error_code !== 429 && result.error_code < 500) || waitSec > maxWaitSec) return result;
        await clock.sleep(waitSec * 1_000, stopping);
      } catch (error) {
        if (isLast) throw error;
        await clock.sleep(attempt * 250, stopping);
      }
    }
  };
}
