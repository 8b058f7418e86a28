import type { Transformer } from 'grammy';
import type { Clock } from '../base/clock.ts';

const tries = 4;
const mostWaitSec = 20;
/** Whoever calls these tries again by themselves, and says that it failed. */
const notOurs: ReadonlySet<string> = new Set(['getUpdates', 'getMe', 'setWebhook', 'deleteWebhook']);

/**
 * For what somebody waits for: Telegram's own wish to wait is granted if it is short, and what breaks on the way is
 * sent again. A message may then come twice, which is better than not at all.
 */
export function retrying(clock: Clock, stopping: AbortSignal): Transformer {
  return async (call, method, payload, signal) => {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt === tries || stopping.aborted || notOurs.has(method);
      try {
        const result = await call(method, payload, signal);
        if (result.ok || isLast) return result;
        const waitSec = result.parameters?.retry_after ?? attempt / 4;
        if ((result.error_code !== 429 && result.error_code < 500) || waitSec > mostWaitSec) return result;
        await clock.sleep(waitSec * 1_000, stopping);
      } catch (error) {
        if (isLast) throw error;
        await clock.sleep(attempt * 250, stopping);
      }
    }
  };
}
