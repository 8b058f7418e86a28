import type { Transformer } from 'grammy';
import type { Clock } from '../base/clock.ts';

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
