import { Bot, BotError } from 'grammy';
import type { BotDeps } from './deps.ts';
import { dispatch } from './dispatch.ts';
import { lead } from './leader.ts';
import { distributeNotices } from './notices.ts';
import { poll } from './poll.ts';
import { retrying } from './retrying.ts';
import { doDueJobs } from './teller.ts';
import { texts } from './texts.ts';
import { watch } from './watch.ts';

export type { BotDeps } from './deps.ts';

/** How often the bot looks whether there is something to tell. */
const tellEveryMs = 500;
const watchEveryMs = 5_000;
const retryMs = 3_000;

/** Runs the bot in whichever process leads; returns how to stop it. */
export function startBot(deps: BotDeps): () => Promise<void> {
  return lead(deps, signal => serve(deps, signal));
}

async function serve(deps: BotDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const bot = new Bot(deps.telegramToken, { client: { apiRoot: deps.telegramApiRoot } });
  const background = new Set<Promise<void>>();

  const report = (error: unknown) =>
    log.error({ reason: withoutToken(deps, error) }, 'the bot could not do something');
  const apologise = async (error: unknown, userId: number | undefined) => {
    report(error);
    // Whoever waits is told to try again, if they can be told.
    if (userId !== undefined)
      await bot.api.sendMessage(userId, `${texts.ru.failed}\n${texts.en.failed}`).catch(() => {});
  };

  dispatch(bot, deps, ({ chatId }, work) => {
    const running = work()
      .catch(error => apologise(error, chatId))
      .finally(() => background.delete(running));
    background.add(running);
  });
  if (!(await getReady(bot, deps, signal, report))) return;
  bot.api.config.use(retrying(clock, signal));
  log.info({ bot: bot.botInfo.username }, 'the bot listens');

  const repeat = async (pauseMs: number, work: () => Promise<unknown>) => {
    while (!signal.aborted) {
      await work().catch(report);
      await clock.sleep(pauseMs, signal);
    }
  };
  // Without the patience of the others: what it cannot send now, it sends later.
  const teller = new Bot(deps.telegramToken, {
    client: { apiRoot: deps.telegramApiRoot, timeoutSeconds: 30 },
    botInfo: bot.botInfo,
  });
  await Promise.all([
    poll(bot, clock, signal, apologise),
    repeat(tellEveryMs, async () => {
      await distributeNotices(deps.pool, clock);
      await doDueJobs(deps, teller.api, signal);
    }),
    repeat(watchEveryMs, () => watch(deps)),
  ]);
  await Promise.all(background);
}

/** Telegram may be away when the service starts. A webhook that was set before would keep all news to itself. */
async function getReady(
  bot: Bot,
  { clock }: BotDeps,
  signal: AbortSignal,
  report: (error: unknown) => void,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await bot.init(signal as Parameters<typeof bot.init>[0]);
      await bot.api.deleteWebhook();
      return true;
    } catch (error) {
      if (!signal.aborted) report(error);
      await clock.sleep(retryMs, signal);
    }
  }
  return false;
}

/** What is known of a failure, as text: the token is part of every address that Telegram is asked at. */
function withoutToken({ telegramToken }: BotDeps, error: unknown): string {
  const cause = error instanceof BotError ? error.error : error;
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  return text.replaceAll(telegramToken, '…');
}
