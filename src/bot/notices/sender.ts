import { type Api, GrammyError, InputFile } from 'grammy';
import { instantOf } from '../../base/clock.ts';
import { parseId, uuidFromId } from '../../base/ids.ts';
import { type NoticeKind, rolesFor } from '../../db/notices/index.ts';
import { findValue } from '../../db/postgres/index.ts';
import { findPartner } from '../../partners/index.ts';
import { monthlyFile } from '../../reports/index.ts';
import { supportRow } from '../conversation/chat-context.ts';
import { htmlWith, keyboardOf, type Screen } from '../conversation/screen.ts';
import { setBlocked } from '../conversation/users.ts';
import type { BotDeps } from '../deps.ts';
import { type Language, textsByLanguage } from '../texts/index.ts';
import * as outbox from './outbox.ts';
import { staffScreen } from './staff.ts';

const batchSize = 50;
const maxBackoffMs = 300_000;
/** How often a deletion is tried again in the chat of a user who blocked the bot. */
const blockedRetryMs = 3_600_000;
/** Older messages are dropped: they are of no use any more. */
const maxAgeMs = 3 * 24 * 3_600_000;

type SenderDeps = Pick<
  BotDeps,
  'pool' | 'clock' | 'log' | 'publicUrl' | 'supportUrl' | 'telegramStaffChat' | 'telegramStaffLanguage'
>;
/** Their texts lead to support. */
const kindsForSupport: NoticeKind[] = ['live_refused'];

/** Sends the due jobs of the outbox, oldest first, with backoff per chat. */
export async function sendDueJobs(deps: SenderDeps, api: Api, queue: outbox.Queue, signal: AbortSignal) {
  const jobs = await outbox.listDueJobs(deps.pool, deps.clock, queue, batchSize);
  const postponed = new Set<bigint | null>();
  for (const job of jobs) {
    if (signal.aborted) break;
    if (!postponed.has(job.chatId) && !(await runJob(deps, api, job))) postponed.add(job.chatId);
  }
}

/** False if its chat must wait. */
async function runJob(deps: SenderDeps, api: Api, job: outbox.Job): Promise<boolean> {
  const { pool, clock } = deps;
  const chatId = job.chatId === null ? deps.telegramStaffChat : Number(job.chatId);
  // An approval request is never too old: the partner is waiting for it.
  const isLate = job.task.do !== 'approval' && clock.nowMs() - job.createdAt.getTime() > maxAgeMs;
  if (isLate) {
    await outbox.completeJob(pool, job.jobId);
    return true;
  }
  if (chatId === undefined) {
    await outbox.postponeChat(pool, clock, job, maxBackoffMs);
    return false;
  }
  try {
    await runTask(deps, api, chatId, job);
  } catch (error) {
    return handleFailure(deps, job, error);
  }
  await outbox.completeJob(pool, job.jobId);
  return true;
}

async function runTask(deps: SenderDeps, api: Api, chatId: number, { task }: outbox.Job): Promise<void> {
  if (task.do === 'delete') return void (await api.deleteMessage(chatId, task.messageId));
  if (task.do !== 'notify') return void (await sendScreen(api, chatId, staffScreen(task, deps)));
  const screen = await noticeScreen(deps, chatId, task);
  if (!screen) return;
  const file = task.kind === 'monthly_report' && (await reportOf(deps, task, screen.language));
  if (!file) return void (await sendScreen(api, chatId, screen));
  const { buttons, text: caption } = screen;
  const options = { caption, parse_mode: 'HTML', reply_markup: keyboardOf(buttons) } as const;
  await api.sendDocument(chatId, new InputFile(file.bytes, file.name), options);
}

const sendScreen = (api: Api, chatId: number, { text, buttons }: Screen) =>
  api.sendMessage(chatId, text, htmlWith(buttons));

type Notify = Extract<outbox.Job['task'], { do: 'notify' }>;

/** The file of a finished month never changes, so it is made for each member when it is sent. */
async function reportOf(deps: SenderDeps, { partnerId, details: { month } }: Notify, language: Language) {
  const id = parseId('prt', partnerId ?? '');
  const partner = id && (await findPartner(deps.pool, id));
  return partner && (await monthlyFile(deps, partner, String(month), language));
}

/** Undefined if the user is not a member any more: they may have been removed while the job waited. */
async function noticeScreen(
  { pool, supportUrl }: SenderDeps,
  userId: number,
  { kind, partnerId, partner, details, count }: Notify,
): Promise<(Screen & { language: Language }) | undefined> {
  const id = parseId('prt', partnerId ?? '');
  const language = await findValue<Language>(pool, {
    text: `SELECT language FROM chat_users u WHERE user_id = $1
              AND EXISTS (SELECT FROM members m
                           WHERE m.user_id = u.user_id AND ($2::uuid IS NULL OR m.partner_id = $2)
                           AND ($3::text[] IS NULL OR m.role::text = ANY ($3)))`,
    values: [userId, id ? uuidFromId(id) : null, rolesFor(kind as NoticeKind)],
  });
  if (!language) return undefined;
  const texts = textsByLanguage[language];
  // A newer release may have stored a kind that is unknown here.
  const known = kind as NoticeKind;
  const text = texts.notices[known]?.(details, count, supportUrl) ?? kind;
  return {
    language,
    text: partner === null ? text : texts.about(partner, text),
    buttons: [
      ...(kindsForSupport.includes(known) ? supportRow({ supportUrl }, texts) : []),
      [{ text: texts.menu, data: 'home' }],
    ],
  };
}

/** False if its chat must wait. */
async function handleFailure(deps: SenderDeps, job: outbox.Job, error: unknown): Promise<boolean> {
  const { pool, clock, log } = deps;
  const refusal = error instanceof GrammyError ? error : undefined;
  const retryAfterSec = refusal?.parameters.retry_after;
  const pauseMs = Math.min(maxBackoffMs, 1_000 * 2 ** Math.min(job.tries, 10));
  const isMessage = job.task.do !== 'delete';
  if (isMessage && (refusal?.error_code === 400 || refusal?.error_code === 403))
    log.warn({ task: job.task.do, reason: refusal.description }, 'Telegram refused a message');
  if (refusal?.error_code === 403 && job.chatId !== null) {
    await setBlocked(pool, job.chatId, instantOf(clock));
    await outbox.dropMessages(pool, job.chatId);
    if (!isMessage) await outbox.postponeJob(pool, clock, job, blockedRetryMs);
    return false;
  }
  // Only 400 is about the message itself; other errors can come from a wrong token or address.
  if (refusal?.error_code === 400) {
    // The staff chat may have got a new id, which the operator has to set; its messages wait for that.
    if (job.chatId === null) await outbox.postponeJob(pool, clock, job, pauseMs);
    else await outbox.completeJob(pool, job.jobId);
    return true;
  }
  await outbox.postponeChat(pool, clock, job, retryAfterSec === undefined ? pauseMs : retryAfterSec * 1_000);
  return false;
}
