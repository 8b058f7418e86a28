import { once } from 'node:events';
import { Api } from 'grammy';
import type { Update } from 'grammy/types';
import { startBackgroundLoop } from '../base/background-loop.ts';
import { createUpdateHandler, type UpdateHandler } from './conversation/update-handler.ts';
import type { BotDeps } from './deps.ts';
import { runAsLeader } from './leader.ts';
import { fanOutNotices } from './notices/fan-out.ts';
import { monitor } from './notices/monitor.ts';
import { sendDueJobs } from './notices/sender.ts';
import { allowedUpdates, poll } from './poll.ts';
import { abortCallsOnShutdown, telegramClient } from './telegram-client.ts';

export { invitationPrefix } from './conversation/menus/home.ts';
export { findChatSettings, pruneChatUsers, setLanguage, setMuted } from './conversation/users.ts';
export { createQrReader } from './images/qr-reader.ts';
export { readBalanceMark, setBalanceMark } from './notices/balance-marks.ts';
export { mutableTopics } from './notices/outbox.ts';
export { languages } from './texts/index.ts';

const sendIntervalMs = 500;
const monitorIntervalMs = 5_000;
const retryMs = 3_000;
const outboxTimeoutMs = 30_000;

/** Starts the bot: updates from the webhook are handled in every process, everything else only in the leader. */
export function startBot(deps: BotDeps) {
  const stopping = new AbortController();
  const handler = createUpdateHandler({ ...deps, pool: deps.conversationPool }, stopping.signal);
  let stopped: Promise<void> | undefined;
  const stopLeading = runAsLeader({ ...deps, onError: handler.logError }, async signal => {
    deps.onLeading?.(true);
    await lead(deps, handler, signal).finally(() => deps.onLeading?.(false));
  });
  const { telegramWebhook } = deps;
  return {
    /** What the HTTP server needs to receive updates by webhook; undefined if they come by long polling. */
    receiver: telegramWebhook && {
      path: new URL(telegramWebhook.url).pathname,
      /** Proves that a request is Telegram's. */
      secret: telegramWebhook.secret,
      handle: (update: object) => handler.handle(update as Update),
    },
    /** Graceful shutdown: resolves when no update is being handled and the lock is released. */
    stop: (): Promise<void> => {
      stopping.abort();
      stopped ??= stopLeading().then(handler.drain);
      return stopped;
    },
  };
}

/** The work of the leader: polls updates, fills and sends the outbox, and monitors balances, payments and the rate. */
async function lead(deps: BotDeps, handler: UpdateHandler, signal: AbortSignal): Promise<void> {
  const { clock, log, pool } = deps;
  if (!(await configureTelegram(deps, handler, signal))) return;
  log.info({ bot: handler.bot.botInfo.username }, 'the bot is ready');
  // Without the retries of conversations: the outbox has its own retry schedule.
  const api = new Api(deps.telegramToken, telegramClient(clock, deps.telegramApiRoot, outboxTimeoutMs));
  api.config.use(abortCallsOnShutdown(clock, signal));
  const repeat = (everyMs: number, work: () => Promise<void>) =>
    startBackgroundLoop({ clock, everyMs, work, onError: handler.logError });
  const loops = [
    repeat(sendIntervalMs, async () => {
      await fanOutNotices(pool, clock);
      await sendDueJobs(deps, api, 'messages', signal);
    }),
    repeat(sendIntervalMs, () => sendDueJobs(deps, api, 'deletes', signal)),
    repeat(monitorIntervalMs, () => monitor(deps)),
  ];
  const polling = deps.telegramWebhook ? undefined : poll(handler, clock, signal);
  if (!signal.aborted) await once(signal, 'abort');
  await Promise.all([polling, ...loops.map(loop => loop.stop())]);
}

/** Sets or removes the webhook at Telegram. Retries, since Telegram may be unreachable. False if it was stopped. */
async function configureTelegram(
  { clock, telegramWebhook }: BotDeps,
  { bot, loadBotInfo, logError }: UpdateHandler,
  signal: AbortSignal,
): Promise<boolean> {
  const stopping = signal as Parameters<typeof bot.api.deleteWebhook>[1];
  while (!signal.aborted) {
    try {
      await loadBotInfo();
      if (telegramWebhook) {
        const { url, secret } = telegramWebhook;
        const options = { secret_token: secret, allowed_updates: allowedUpdates };
        await bot.api.setWebhook(url, options, stopping);
      } else await bot.api.deleteWebhook({}, stopping);
      return true;
    } catch (error) {
      if (!signal.aborted) logError(error);
      await clock.sleep(retryMs, signal);
    }
  }
  return false;
}
