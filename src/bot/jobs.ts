import { type Clock, instantOf } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';

export type NoticeDetails = Record<string, string | number | null>;

/** What the bot has to do by itself. Nothing of it is secret: it stands in the database. */
export type Task =
  | { do: 'tell'; kind: string; partner: string | null; details: NoticeDetails; count: number }
  | { do: 'delete'; messageId: number }
  | { do: 'alarm'; alarmId: string; kind: string; subject: string; detail: string }
  | { do: 'approval'; partnerId: string; name: string };

export interface Job {
  jobId: bigint;
  /** Null: the staff chat. */
  chatId: bigint | null;
  task: Task;
  createdAt: Date;
  tries: number;
}

export async function addJob(
  tx: Queryable,
  clock: Clock,
  chatId: bigint | null,
  task: Task,
  inMs = 0,
): Promise<void> {
  await tx.query({
    text: 'INSERT INTO chat_jobs (chat_id, task, created_at, due_at) VALUES ($1, $2, $3, $4)',
    values: [chatId, task, instantOf(clock), new Date(clock.nowMs() + inMs)],
  });
}

export async function listDueJobs(db: Queryable, clock: Clock, limit: number): Promise<Job[]> {
  const { rows } = await db.query<Job>({
    text: `SELECT id AS "jobId", chat_id AS "chatId", task, created_at AS "createdAt", tries
             FROM chat_jobs WHERE due_at <= $1 ORDER BY due_at, id LIMIT $2`,
    values: [instantOf(clock), limit],
  });
  return rows;
}

export async function endJob(db: Queryable, jobId: bigint): Promise<void> {
  await db.query({ text: 'DELETE FROM chat_jobs WHERE id = $1', values: [jobId] });
}

/** One message after the other: whatever else waits for that chat waits as long. */
export async function postponeChat(db: Queryable, clock: Clock, job: Job, ms: number): Promise<void> {
  await db.query({
    text: `UPDATE chat_jobs SET due_at = greatest(due_at, $3), tries = tries + (id = $1)::int
            WHERE chat_id IS NOT DISTINCT FROM $2`,
    values: [job.jobId, job.chatId, new Date(clock.nowMs() + ms)],
  });
}

/** Nothing more reaches that chat. */
export async function dropChat(db: Queryable, chatId: bigint | null): Promise<void> {
  await db.query({ text: 'DELETE FROM chat_jobs WHERE chat_id IS NOT DISTINCT FROM $1', values: [chatId] });
}
