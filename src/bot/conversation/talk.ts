import { Bot, BotError } from 'grammy';
import type { Update } from 'grammy/types';
import type { BotDeps } from '../deps.ts';
import { leaving } from '../drain.ts';
import { retrying } from '../retrying.ts';
import { texts } from '../texts/index.ts';
import { dispatch } from './dispatch.ts';

/** The bot's side of all conversations in this process. */
export interface Talk {
  bot: Bot;
  /** Learns once who the bot is, which it must know before anything else. One try, that ends with the stop. */
  introduce(): Promise<void>;
  /** Does what an update asks for, after what the same person asked before. Fails only before anything is done. */
  handle(update: Update): Promise<void>;
  report(error: unknown): void;
  /** Resolves when nothing is under way any more. */
  end(): Promise<void>;
}

/** Longer than Telegram lets us wait for news. */
const timeoutSeconds = 40;
const introductionMs = 10_000;

export function createTalk(deps: BotDeps, stopping: AbortSignal): Talk {
  const bot = new Bot(deps.telegramToken, {
    client: { apiRoot: deps.telegramApiRoot, timeoutSeconds },
  });
  bot.api.config.use(leaving(stopping), retrying(deps.clock, stopping));
  const underWay = new Set<Promise<void>>();
  const lastOf = new Map<number, Promise<void>>();

  const keepTrack = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => underWay.delete(tracked));
    underWay.add(tracked);
    return tracked;
  };
  const report = (error: unknown) =>
    deps.log.error({ reason: withoutToken(deps, error) }, 'the bot could not do something');
  /** Whoever waits is told to try again, if they can be told. */
  const apologise = async (error: unknown, userId: number | undefined) => {
    report(error);
    if (userId !== undefined)
      await bot.api.sendMessage(userId, `${texts.ru.failed}\n${texts.en.failed}`).catch(() => {});
  };

  // The library's own way asks for ever, and says nothing of it.
  const introduce = async () => {
    if (bot.isInited()) return;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(introductionMs)]);
    bot.botInfo = await bot.api.getMe(signal as Parameters<typeof bot.api.getMe>[0]);
  };

  dispatch(bot, deps, ({ chatId }, work) => {
    void keepTrack(work().catch(error => apologise(error, chatId)));
  });

  return {
    bot,
    introduce,
    handle: async update => {
      await introduce().catch(error => {
        report(error);
        throw new Error('Telegram does not say who the bot is');
      });
      const userId = personOf(update);
      const before = (userId !== undefined && lastOf.get(userId)) || Promise.resolve();
      const work = keepTrack(
        before.then(() => bot.handleUpdate(update)).catch(error => apologise(error, userId)),
      );
      if (userId !== undefined) lastOf.set(userId, work);
      await work;
      if (userId !== undefined && lastOf.get(userId) === work) lastOf.delete(userId);
    },
    report,
    end: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

const personOf = (update: Update) =>
  (update.callback_query ?? update.message ?? update.my_chat_member)?.from?.id;

/** What is known of a failure, as text: the token is part of every address that Telegram is asked at. */
function withoutToken({ telegramToken }: BotDeps, error: unknown): string {
  const cause = error instanceof BotError ? error.error : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.replaceAll(telegramToken, '…');
}
