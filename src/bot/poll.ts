import type { Clock } from '../base/clock.ts';
import type { Talk } from './conversation/talk.ts';

const waitSec = 25;
const pauseMs = 1_000;
const mostAtOnce = 100;
const mostPatienceMs = 3_000;
const farewellMs = 3_000;

/** What the bot wants to hear of. */
export const wantedUpdates = ['message', 'callback_query', 'my_chat_member'] as const;

/**
 * Asks for news until told to stop. They are confirmed when they have been handled, or have taken long: a process that
 * dies leaves them to the next, and whatever may not happen twice is guarded by the dialogue it belongs to.
 */
export async function poll({ bot, handle, report }: Talk, clock: Clock, signal: AbortSignal): Promise<void> {
  let offset = 0;
  while (!signal.aborted) {
    try {
      const updates = await bot.api.getUpdates(
        { offset, timeout: waitSec, limit: mostAtOnce, allowed_updates: wantedUpdates },
        signal as Parameters<typeof bot.api.getUpdates>[1],
      );
      // One slow conversation must not keep the news of all others; a stop waits for it.
      await Promise.race([Promise.all(updates.map(handle)), clock.sleep(mostPatienceMs, signal)]);
      offset = Math.max(offset, ...updates.map(({ update_id }) => update_id + 1));
    } catch (error) {
      if (signal.aborted) break;
      report(error);
      await clock.sleep(pauseMs, signal);
    }
  }
  // Else the last ones would come again; if this fails they do, which does no harm.
  const farewell = AbortSignal.timeout(farewellMs) as Parameters<typeof bot.api.getUpdates>[1];
  if (offset > 0) await bot.api.getUpdates({ offset, timeout: 0, limit: 1 }, farewell).catch(() => {});
}
