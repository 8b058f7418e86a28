import type { Bot } from 'grammy';
import type { Update } from 'grammy/types';
import type { Clock } from '../base/clock.ts';

const waitSec = 25;
const pauseMs = 1_000;
const mostAtOnce = 100;

/**
 * Asks for news until told to stop. Those of one person are handled one after the other, those of different people at
 * the same time. They are confirmed when they have been handled: a process that dies leaves them to the next, and
 * whatever may not happen twice is guarded by the dialogue it belongs to.
 */
export async function poll(
  bot: Bot,
  clock: Clock,
  signal: AbortSignal,
  onError: (error: unknown, userId: number | undefined) => Promise<void>,
): Promise<void> {
  let offset = 0;
  while (!signal.aborted) {
    try {
      const updates = await bot.api.getUpdates(
        { offset, timeout: waitSec, limit: mostAtOnce, allowed_updates: wanted },
        signal as Parameters<typeof bot.api.getUpdates>[1],
      );
      await Promise.all(byPerson(updates).map(own => handleInTurn(own)));
      offset = Math.max(offset, ...updates.map(({ update_id }) => update_id + 1));
    } catch (error) {
      if (signal.aborted) return;
      await onError(error, undefined);
      await clock.sleep(pauseMs, signal);
    }
  }
  // Else the last ones would come again; if this fails they do, which does no harm.
  if (offset > 0) await bot.api.getUpdates({ offset, timeout: 0, limit: 1 }).catch(() => {});

  async function handleInTurn(updates: Update[]): Promise<void> {
    for (const update of updates)
      await bot.handleUpdate(update).catch(error => onError(error, personOf(update)));
  }
}

const wanted = ['message', 'callback_query', 'my_chat_member'] as const;

const personOf = (update: Update) =>
  (update.callback_query ?? update.message ?? update.my_chat_member)?.from?.id;

const byPerson = (updates: Update[]): Update[][] => [
  ...Map.groupBy(updates, update => personOf(update)).values(),
];
