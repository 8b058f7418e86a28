import { type Api, GrammyError } from 'grammy';
import { instantOf } from '../../base/clock.ts';
import { parseId, uuidFromId } from '../../base/ids.ts';
import { keyboardOf, type Screen } from '../conversation/screen.ts';
import { setBlocked } from '../conversation/users.ts';
import type { BotDeps } from '../deps.ts';
import { type Language, texts } from '../texts/index.ts';
import { dropMessages, endJob, type Job, type Lane, listDueJobs, postponeChat, postponeJob } from './jobs.ts';
import { staffScreen } from './staff.ts';

const atOnce = 50;
const longestPauseMs = 300_000;
/** How often to look whether somebody has unblocked the bot, as long as something of theirs is to go away. */
const blockedPauseMs = 3_600_000;
/** Whoever could not be reached for so long has no use for the news. */
const giveUpMs = 3 * 24 * 3_600_000;

type TellerDeps = Pick<BotDeps, 'pool' | 'clock' | 'log' | 'publicUrl' | 'telegramStaffChat'>;

/** Does what is due, the oldest first. */
export async function doDueJobs(deps: TellerDeps, api: Api, lane: Lane, signal: AbortSignal): Promise<void> {
  const jobs = await listDueJobs(deps.pool, deps.clock, lane, atOnce);
  const postponed = new Set<bigint | null>();
  for (const job of jobs) {
    if (signal.aborted) break;
    if (!postponed.has(job.chatId) && !(await doJob(deps, api, job))) postponed.add(job.chatId);
  }
}

/** False if its chat has to wait. */
async function doJob(deps: TellerDeps, api: Api, job: Job): Promise<boolean> {
  const { pool, clock } = deps;
  const chatId = job.chatId === null ? deps.telegramStaffChat : Number(job.chatId);
  // A partner waits for its approval for as long as it takes.
  const isLate = job.task.do !== 'approval' && clock.nowMs() - job.createdAt.getTime() > giveUpMs;
  if (isLate) {
    await endJob(pool, job.jobId);
    return true;
  }
  if (chatId === undefined) {
    await postponeChat(pool, clock, job, longestPauseMs);
    return false;
  }
  try {
    await carryOut(deps, api, chatId, job);
  } catch (error) {
    return goOnAfter(deps, job, error);
  }
  await endJob(pool, job.jobId);
  return true;
}

async function carryOut(deps: TellerDeps, api: Api, chatId: number, { task }: Job): Promise<void> {
  if (task.do === 'delete') return void (await api.deleteMessage(chatId, task.messageId));
  const screen =
    task.do === 'tell' ? await noticeScreen(deps, chatId, task) : staffScreen(task, deps.publicUrl);
  if (!screen) return;
  const { text, buttons } = screen;
  await api.sendMessage(chatId, text, {
    parse_mode: 'HTML',
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  });
}

/** Undefined if it is not theirs to know any more: they may have been removed while it waited. */
async function noticeScreen(deps: TellerDeps, userId: number, task: TellTask): Promise<Screen | undefined> {
  const { kind, partner, details, count } = task;
  const reader = await findReader(deps, userId, task);
  if (!reader) return undefined;
  const say = texts[reader.language];
  const notice = say.notices[kind as keyof typeof say.notices];
  const text = notice ? notice(details, count) : kind;
  return {
    text: partner === null ? text : say.about(partner, text),
    buttons: [[{ text: say.menu, data: 'home' }]],
  };
}

type TellTask = Extract<Job['task'], { do: 'tell' }>;

async function findReader(
  { pool }: TellerDeps,
  userId: number,
  task: TellTask,
): Promise<{ language: Language } | undefined> {
  const partnerId = parseId('prt', task.partnerId ?? '');
  const { rows } = await pool.query<{ language: Language }>({
    text: `SELECT language FROM chat_users u WHERE user_id = $1
              AND EXISTS (SELECT FROM members m
                           WHERE m.user_id = u.user_id AND ($2::uuid IS NULL OR m.partner_id = $2))`,
    values: [userId, partnerId ? uuidFromId(partnerId) : null],
  });
  return rows[0];
}

/** False if its chat has to wait. */
async function goOnAfter(deps: TellerDeps, job: Job, error: unknown): Promise<boolean> {
  const { pool, clock, log } = deps;
  const refusal = error instanceof GrammyError ? error : undefined;
  const retryAfterSec = refusal?.parameters.retry_after;
  const pauseMs = Math.min(longestPauseMs, 1_000 * 2 ** Math.min(job.tries, 10));
  const isMessage = job.task.do !== 'delete';
  if (isMessage && (refusal?.error_code === 400 || refusal?.error_code === 403))
    log.warn({ task: job.task.do, reason: refusal.description }, 'a message of the bot was refused');
  if (refusal?.error_code === 403 && job.chatId !== null) {
    await setBlocked(pool, job.chatId, instantOf(clock));
    await dropMessages(pool, job.chatId);
    if (!isMessage) await postponeJob(pool, clock, job, blockedPauseMs);
    return false;
  }
  // Only this says something of the message itself; a token or an address that is wrong says nothing of it.
  if (refusal?.error_code === 400) {
    // The staff chat may have got another number, which is the operator's to set: all this is told then.
    if (job.chatId === null) await postponeJob(pool, clock, job, pauseMs);
    else await endJob(pool, job.jobId);
    return true;
  }
  await postponeChat(pool, clock, job, retryAfterSec === undefined ? pauseMs : retryAfterSec * 1_000);
  return false;
}
