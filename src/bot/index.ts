import { Api } from 'grammy';
import type { Update } from 'grammy/types';
import { createTalk, type Talk } from './conversation/talk.ts';
import type { BotDeps } from './deps.ts';
import { leaving } from './drain.ts';
import { lead } from './leader.ts';
import { distributeNotices } from './notices/notices.ts';
import { doDueJobs } from './notices/sender.ts';
import { watch } from './notices/watch.ts';
import { poll, wantedUpdates } from './poll.ts';

/** How often the bot looks whether there is something to tell. */
const tellEveryMs = 500;
const watchEveryMs = 5_000;
const retryMs = 3_000;

/** Where Telegram brings its news, if it shall: to any process, with a secret that shows that it is Telegram. */
interface UpdateDoor {
  path: string;
  secret: string;
  handle(update: object): Promise<void>;
}

/** Runs the bot: conversations in every process to which they are brought, all else in whichever process leads. */
export function startBot(deps: BotDeps): { door: UpdateDoor | undefined; stop(): Promise<void> } {
  const stopping = new AbortController();
  const talk = createTalk(deps, stopping.signal);
  let stopped: Promise<void> | undefined;
  const stopLeading = lead(deps, signal => serve(deps, talk, signal));
  const { telegramWebhook } = deps;
  return {
    door: telegramWebhook && {
      path: new URL(telegramWebhook.url).pathname,
      secret: telegramWebhook.secret,
      handle: update => talk.handle(update as Update),
    },
    stop: () => {
      stopping.abort();
      stopped ??= stopLeading().then(talk.end);
      return stopped;
    },
  };
}

async function serve(deps: BotDeps, talk: Talk, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  if (!(await getReady(deps, talk, signal))) return;
  log.info({ bot: talk.bot.botInfo.username }, 'the bot listens');
  const repeat = async (pauseMs: number, work: () => Promise<unknown>) => {
    while (!signal.aborted) {
      await work().catch(talk.report);
      await clock.sleep(pauseMs, signal);
    }
  };
  // Without the patience of conversations: what it cannot send now, it sends later.
  const api = new Api(deps.telegramToken, { apiRoot: deps.telegramApiRoot, timeoutSeconds: 30 });
  api.config.use(leaving(signal));
  await Promise.all([
    deps.telegramWebhook ? undefined : poll(talk, clock, signal),
    repeat(tellEveryMs, async () => {
      await distributeNotices(deps.pool, clock);
      await doDueJobs(deps, api, 'messages', signal);
    }),
    repeat(tellEveryMs, () => doDueJobs(deps, api, 'deletes', signal)),
    repeat(watchEveryMs, () => watch(deps)),
  ]);
}

/** Telegram may be away when the service starts. Whether it brings its news or is asked for them is told to it anew. */
async function getReady(
  { clock, telegramWebhook }: BotDeps,
  { bot, introduce, report }: Talk,
  signal: AbortSignal,
): Promise<boolean> {
  const ending = signal as Parameters<typeof bot.api.deleteWebhook>[1];
  while (!signal.aborted) {
    try {
      await introduce();
      if (telegramWebhook) {
        const { url, secret } = telegramWebhook;
        await bot.api.setWebhook(url, { secret_token: secret, allowed_updates: wantedUpdates }, ending);
      } else await bot.api.deleteWebhook({}, ending);
      return true;
    } catch (error) {
      if (!signal.aborted) report(error);
      await clock.sleep(retryMs, signal);
    }
  }
  return false;
}
