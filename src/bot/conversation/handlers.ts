import type { Bot, Context } from 'grammy';
import { createBoundedCache } from '../../base/bounded-cache.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { displayName } from '../../base/label.ts';
import { createTokenBuckets } from '../../base/token-buckets.ts';
import { auditContextOfPerson } from '../../partners/index.ts';
import type { BotDeps } from '../deps.ts';
import { createQrReader } from '../images/qr-reader.ts';
import { handleStaffCallback } from '../notices/staff.ts';
import { textsByLanguage } from '../texts/index.ts';
import { type ChatContext, send } from './chat-context.ts';
import { handleCallback, handleMessage } from './dispatch.ts';
import { clip } from './screen.ts';
import { setBlocked, upsertUser } from './users.ts';

type RunInBackground = (chatId: number, work: () => Promise<void>) => void;

/** Registers the bot's handlers for callback queries, messages and being blocked. */
export function registerHandlers(bot: Bot, deps: BotDeps, runInBackground: RunInBackground): void {
  const throttle = createThrottle(deps.clock);
  const qrReader = createQrReader(deps);

  bot.on('callback_query:data', async context => {
    const { message, from } = context.callbackQuery;
    const isStaff = message !== undefined && message.chat.id === deps.telegramStaffChat;
    const texts = textsByLanguage[isStaff ? deps.telegramStaffLanguage : 'en'];
    // A button works only in the staff chat or in the private chat of the user who pressed it.
    if (!isStaff && message?.chat.id !== from.id) return answer(context, texts.notYours);
    if (throttle(BigInt(from.id)) !== 'allowed') return answer(context, texts.tooFast);
    if (isStaff) return answer(context, await handleStaffCallback(deps, context.api, context));
    const chat = await createChatContext(deps, context, runInBackground);
    try {
      await handleCallback(chat, context.callbackQuery.data);
    } finally {
      await answer(context, chat.toast);
    }
  });

  bot.on('message', async context => {
    if (context.chat.type !== 'private' || !context.from) return;
    const decision = throttle(BigInt(context.from.id));
    if (decision === 'throttled_again') return;
    const chat = await createChatContext(deps, context, runInBackground);
    if (decision === 'allowed') await handleMessage(chat, context.message, qrReader);
    else await send(chat, chat.texts.tooFast);
  });

  bot.on('my_chat_member', async ({ chat, myChatMember }) => {
    if (chat.type === 'private' && myChatMember.new_chat_member.status === 'kicked')
      await setBlocked(deps.pool, BigInt(chat.id), instantOf(deps.clock));
  });
}

async function createChatContext(
  deps: BotDeps,
  context: Context,
  runInBackground: RunInBackground,
): Promise<ChatContext> {
  const from = context.from!;
  const userId = BigInt(from.id);
  const language = from.language_code?.startsWith('ru') ? 'ru' : 'en';
  const user = await upsertUser(deps.pool, deps.clock, userId, language);
  return {
    deps,
    api: context.api,
    botName: context.me.username,
    user,
    person: { userId, name: displayName(from.first_name, from.last_name) },
    texts: textsByLanguage[user.language],
    audit: auditContextOfPerson(deps, { userId }),
    chatId: from.id,
    pressedMessageId: context.callbackQuery?.message?.message_id,
    toast: undefined,
    runInBackground: work => runInBackground(from.id, work),
  };
}

/** Every callback query is answered, or the button keeps its spinner. Telegram refuses answers to old queries. */
async function answer(context: Context, text: string | undefined): Promise<void> {
  await context.answerCallbackQuery(text === undefined ? {} : { text: clip(text, 200) }).catch(() => {});
}

/** More than a person does for long; a flood would only delay the updates of others. */
const rate = { perSec: 2, burst: 30 };
const maxUsers = 10_000;

/** The user gets one message about being throttled; further updates are dropped silently. */
type ThrottleDecision = 'allowed' | 'throttled' | 'throttled_again';

/** Memory is enough, since one process at a time handles the updates of a user. */
function createThrottle(clock: Clock): (userId: bigint) => ThrottleDecision {
  const takeToken = createTokenBuckets(clock, rate);
  const throttled = createBoundedCache<boolean>(maxUsers);
  return userId => {
    const user = `${userId}`;
    const wasThrottled = throttled.get(user);
    const isThrottled = takeToken(user) !== undefined;
    throttled.set(user, isThrottled);
    if (!isThrottled) return 'allowed';
    return wasThrottled ? 'throttled_again' : 'throttled';
  };
}
