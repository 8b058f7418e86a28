import { abortAfter, type Clock } from '../base/clock.ts';
import type { UpdateHandler } from './conversation/update-handler.ts';

const longPollSec = 25;
const afterErrorMs = 1_000;
const batchSize = 100;
const maxBatchMs = 3_000;
const confirmTimeoutMs = 3_000;

/** The kinds of updates that the bot subscribes to. */
export const allowedUpdates = ['message', 'callback_query', 'my_chat_member'] as const;

/**
 * Gets updates by long polling until the signal. Telegram considers them confirmed with the next poll, so a batch is
 * confirmed when it was handled or took too long: if this process dies, the next one gets the rest again. What must not
 * happen twice is guarded by the nonce of its dialogue. The loop has no pause, so it is not a background loop.
 */
export async function poll({ bot, handle, logError }: UpdateHandler, clock: Clock, signal: AbortSignal) {
  let offset = 0;
  while (!signal.aborted) {
    try {
      const updates = await bot.api.getUpdates(
        { offset, timeout: longPollSec, limit: batchSize, allowed_updates: allowedUpdates },
        signal as Parameters<typeof bot.api.getUpdates>[1],
      );
      // One slow conversation must not delay all others; the graceful shutdown waits for it.
      await Promise.race([Promise.all(updates.map(handle)), clock.sleep(maxBatchMs, signal)]);
      offset = Math.max(offset, ...updates.map(({ update_id }) => update_id + 1));
    } catch (error) {
      if (signal.aborted) break;
      logError(error);
      await clock.sleep(afterErrorMs, signal);
    }
  }
  // Confirms the last batch. If this fails, its updates arrive again, which does no harm.
  const timeout = abortAfter(clock, confirmTimeoutMs) as Parameters<typeof bot.api.getUpdates>[1];
  if (offset > 0) await bot.api.getUpdates({ offset, timeout: 0, limit: 1 }, timeout).catch(() => {});
}
