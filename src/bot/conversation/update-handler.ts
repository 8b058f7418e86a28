import { Bot, BotError } from 'grammy';
import type { Update } from 'grammy/types';
import { abortAfter } from '../../base/clock.ts';
import { TooManyChangesError } from '../../db/audit/index.ts';
import { isDatabaseUnavailable } from '../../db/postgres/index.ts';
import type { BotDeps } from '../deps.ts';
import { abortCallsOnShutdown, retryCalls, telegramClient } from '../telegram-client.ts';
import { textsByLanguage } from '../texts/index.ts';
import { registerHandlers } from './handlers.ts';

export type UpdateHandler = ReturnType<typeof createUpdateHandler>;

/** Longer than a long poll takes. */
const timeoutMs = 40_000;
const botInfoTimeoutMs = 10_000;

/** Handles the updates that reach this process, by long polling or by Telegram's webhook. */
export function createUpdateHandler(deps: BotDeps, stopping: AbortSignal) {
  const bot = new Bot(deps.telegramToken, {
    client: telegramClient(deps.clock, deps.telegramApiRoot, timeoutMs),
  });
  bot.api.config.use(abortCallsOnShutdown(deps.clock, stopping), retryCalls(deps.clock, stopping));
  const { track, drain } = createTracker();
  const inOrder = createUserQueues();
  const logError = (error: unknown) => deps.log.error(describe(deps, error), 'bot error');
  const apologise = async (error: unknown, userId: number | undefined) => {
    const isRefusal = causeOf(error) instanceof TooManyChangesError;
    if (!isRefusal) logError(error);
    const { ru, en } = textsByLanguage;
    const text = isRefusal ? `${ru.tooManyChanges}\n${en.tooManyChanges}` : `${ru.failed}\n${en.failed}`;
    if (userId !== undefined) await bot.api.sendMessage(userId, text).catch(() => {});
  };

  // Loads the bot's own account, which the library needs before any update. Tries once. The library's own `bot.init()` retries without end and logs nothing.
  const loadBotInfo = async () => {
    if (bot.isInited()) return;
    const signal = AbortSignal.any([stopping, abortAfter(deps.clock, botInfoTimeoutMs)]);
    bot.botInfo = await bot.api.getMe(signal as Parameters<typeof bot.api.getMe>[0]);
  };

  registerHandlers(bot, deps, (chatId, work) => {
    void track(work().catch(error => apologise(error, chatId)));
  });

  return {
    bot,
    loadBotInfo,
    /** Handles an update after the earlier ones of the same user. Rejects only if nothing was done. */
    handle: async (update: Update) => {
      await loadBotInfo().catch(error => {
        logError(error);
        throw new Error('Telegram does not answer getMe');
      });
      const userId = userOf(update);
      const work = () => bot.handleUpdate(update).catch(error => apologise(error, userId));
      await track(inOrder(userId, work));
    },
    logError,
    /** Resolves when no update is being handled. */
    drain,
  };
}

function createTracker() {
  const running = new Set<Promise<void>>();
  return {
    track: (work: Promise<void>): Promise<void> => {
      const tracked = work.finally(() => running.delete(tracked));
      running.add(tracked);
      return tracked;
    },
    drain: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Work for one user runs in order; users do not wait for each other. `work` must not reject. */
function createUserQueues() {
  const lastOf = new Map<number, Promise<void>>();
  return async (userId: number | undefined, work: () => Promise<void>): Promise<void> => {
    if (userId === undefined) return work();
    const last = (lastOf.get(userId) ?? Promise.resolve()).then(work);
    lastOf.set(userId, last);
    await last;
    if (lastOf.get(userId) === last) lastOf.delete(userId);
  };
}

const userOf = (update: Update) =>
  (update.callback_query ?? update.message ?? update.my_chat_member)?.from?.id;

const causeOf = (error: unknown) => (error instanceof BotError ? error.error : error);

/** The error as text without the token, which is part of every URL of the Bot API. Errors of the database have none. */
function describe({ telegramToken }: BotDeps, error: unknown): { err: unknown } | { reason: string } {
  const cause = causeOf(error);
  if (isDatabaseUnavailable(cause)) return { err: cause };
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return { reason: text.replaceAll(telegramToken, '…') };
}
