import { type Clock, instantOf } from '../../base/clock.ts';
import type { Queryable } from '../../db/pool.ts';

export type NoticeDetails = Record<string, string | number | null>;

/** What the bot has to do by itself. Nothing of it is secret: it stands in the database. */
export type Task =
  | {
      do: 'tell';
      kind: string;
      /** Whose members it is for, and their name; null: those of all. */
      partnerId: string | null;
      partner: string | null;
      details: NoticeDetails;
      count: number;
    }
  | { do: 'delete'; messageId: number }
  | { do: 'alarm'; alarmId: number; kind: string; subject: string; detail: string }
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

/** Removals wait for no message, however many there are. */
export type Lane = 'deletes' | 'messages';
const ofLane: Record<Lane, string> = {
  deletes: `task->>'do' = 'delete'`,
  messages: `task->>'do' <> 'delete'`,
};

export async function listDueJobs(db: Queryable, clock: Clock, lane: Lane, limit: number): Promise<Job[]> {
  const { rows } = await db.query<Job>({
    text: `SELECT id AS "jobId", chat_id AS "chatId", task, created_at AS "createdAt", tries
             FROM chat_jobs WHERE due_at <= $1 AND ${ofLane[lane]} ORDER BY due_at, id LIMIT $2`,
    values: [instantOf(clock), limit],
  });
  return rows;
}

export async function endJob(db: Queryable, jobId: bigint): Promise<void> {
  await db.query({ text: 'DELETE FROM chat_jobs WHERE id = $1', values: [jobId] });
}

export async function postponeJob(db: Queryable, clock: Clock, job: Job, ms: number): Promise<void> {
  await db.query({
    text: 'UPDATE chat_jobs SET due_at = $2, tries = tries + 1 WHERE id = $1',
    values: [job.jobId, new Date(clock.nowMs() + ms)],
  });
}

/** One message after the other: whatever else is to be said in that chat waits as long. */
export async function postponeChat(db: Queryable, clock: Clock, job: Job, ms: number): Promise<void> {
  await db.query({
    text: `UPDATE chat_jobs SET due_at = greatest(due_at, $3), tries = tries + (id = $1)::int
            WHERE id = $1 OR (chat_id IS NOT DISTINCT FROM $2 AND ${ofLane.messages})`,
    values: [job.jobId, job.chatId, new Date(clock.nowMs() + ms)],
  });
}

/** Nothing more is said in that chat. What is to go away there still is: it can be read again when it is unblocked. */
export async function dropMessages(db: Queryable, chatId: bigint): Promise<void> {
  await db.query({
    text: `DELETE FROM chat_jobs WHERE chat_id = $1 AND ${ofLane.messages}`,
    values: [chatId],
  });
}
