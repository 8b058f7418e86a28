import { type Api, GrammyError } from 'grammy';
import { instantOf } from '../base/clock.ts';
import type { BotDeps } from './deps.ts';
import { dropChat, endJob, type Job, listDueJobs, postponeChat } from './jobs.ts';
import { keyboardOf, type Screen } from './screen.ts';
import { staffScreen } from './staff.ts';
import { type Language, texts } from './texts.ts';
import { setBlocked } from './users.ts';

const atOnce = 50;
const longestPauseMs = 300_000;
/** Whoever could not be reached for so long has no use for the news. */
const giveUpMs = 3 * 24 * 3_600_000;

/** Does what is due, the oldest first. Returns how many jobs there were. */
export async function doDueJobs(deps: BotDeps, api: Api, signal: AbortSignal): Promise<number> {
  const jobs = await listDueJobs(deps.pool, deps.clock, atOnce);
  const postponed = new Set<bigint | null>();
  for (const job of jobs) {
    if (signal.aborted) break;
    if (!postponed.has(job.chatId) && !(await doJob(deps, api, job))) postponed.add(job.chatId);
  }
  return jobs.length;
}

/** False if its chat has to wait. */
async function doJob(deps: BotDeps, api: Api, job: Job): Promise<boolean> {
  const { pool, clock } = deps;
  const chatId = job.chatId === null ? deps.telegramStaffChat : Number(job.chatId);
  const isHopeless = chatId === undefined || clock.nowMs() - job.createdAt.getTime() > giveUpMs;
  if (isHopeless) {
    await endJob(pool, job.jobId);
    return true;
  }
  try {
    await carryOut(deps, api, chatId, job);
  } catch (error) {
    return goOnAfter(deps, job, error);
  }
  await endJob(pool, job.jobId);
  return true;
}

async function carryOut(deps: BotDeps, api: Api, chatId: number, { task }: Job): Promise<void> {
  if (task.do === 'delete') return void (await api.deleteMessage(chatId, task.messageId));
  const { text, buttons } =
    task.do === 'tell' ? noticeScreen(await languageOf(deps, chatId), task) : staffScreen(task);
  await api.sendMessage(chatId, text, {
    parse_mode: 'HTML',
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  });
}

function noticeScreen(language: Language, { kind, partner, details, count }: TellTask): Screen {
  const say = texts[language];
  const notice = say.notices[kind as keyof typeof say.notices];
  const text = notice ? notice(details, count) : kind;
  return {
    text: partner === null ? text : say.about(partner, text),
    buttons: [[{ text: say.menu, data: 'home' }]],
  };
}

type TellTask = Extract<Job['task'], { do: 'tell' }>;

async function languageOf({ pool }: BotDeps, userId: number): Promise<Language> {
  const { rows } = await pool.query<{ language: Language }>({
    text: 'SELECT language FROM chat_users WHERE user_id = $1',
    values: [userId],
  });
  return rows[0]?.language ?? 'en';
}

async function goOnAfter(deps: BotDeps, job: Job, error: unknown): Promise<boolean> {
  const { pool, clock, log } = deps;
  const refusal = error instanceof GrammyError ? error : undefined;
  if (refusal?.error_code === 403) {
    if (job.chatId !== null) await setBlocked(pool, job.chatId, instantOf(clock));
    else log.warn({}, 'the staff chat does not let the bot in');
    await dropChat(pool, job.chatId);
    return false;
  }
  const retryAfterSec = refusal?.parameters.retry_after;
  // Only this says something of the message itself; a token or an address that is wrong says nothing of it.
  if (refusal?.error_code === 400) {
    // A group that became a supergroup has another number, which is the operator's to set.
    if (job.task.do !== 'delete')
      log.warn({ task: job.task.do, reason: refusal.description }, 'a message of the bot was refused');
    await endJob(pool, job.jobId);
    return true;
  }
  const pauseMs = Math.min(longestPauseMs, 1_000 * 2 ** Math.min(job.tries, 10));
  await postponeChat(pool, clock, job, retryAfterSec === undefined ? pauseMs : retryAfterSec * 1_000);
  return false;
}
