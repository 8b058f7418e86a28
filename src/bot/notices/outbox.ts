import { type Clock, instantOf } from '../../base/clock.ts';
import { topicOf } from '../../db/notices/index.ts';
import { type Queryable, readRows } from '../../db/postgres/index.ts';

export type MutableTopic = Exclude<(typeof topicOf)[keyof typeof topicOf], 'security'>;
/** Groups of notices that a user can mute. */
export const mutableTopics = [...new Set(Object.values(topicOf))].filter(topic => topic !== 'security');

export type NoticeDetails = Record<string, string | number | null>;

/** What the bot does on its own initiative. Contains no secrets, since it is stored. */
export type Task =
  | {
      do: 'notify';
      kind: string;
      /** The partner whose members get it, and its name; null: the members of all. */
      partnerId: string | null;
      partner: string | null;
      details: NoticeDetails;
      count: number;
    }
  | { do: 'delete'; messageId: number }
  | { do: 'alarm'; alarmId: number; kind: string; subject: string; detail: string }
  | { do: 'approval'; partnerId: string; name: string };

/** A row of the outbox, table `chat_jobs`: written in the transaction of its cause, sent at least once. */
export interface Job {
  jobId: bigint;
  /** Null: the staff chat. */
  chatId: bigint | null;
  task: Task;
  createdAt: Date;
  tries: number;
}

export const addJob = (tx: Queryable, clock: Clock, chatId: bigint | null, task: Task, inMs = 0) =>
  tx.query({
    text: 'INSERT INTO chat_jobs (chat_id, task, created_at, due_at) VALUES ($1, $2, $3, $4)',
    values: [chatId, task, instantOf(clock), new Date(clock.nowMs() + inMs)],
  });

/** Deletions do not wait behind messages, however many there are. */
export type Queue = 'deletes' | 'messages';
const filterOf: Record<Queue, string> = {
  deletes: `task->>'do' = 'delete'`,
  messages: `task->>'do' <> 'delete'`,
};

export const listDueJobs = (db: Queryable, clock: Clock, queue: Queue, limit: number) =>
  readRows<Job>(db, {
    text: `SELECT id AS "jobId", chat_id AS "chatId", task, created_at AS "createdAt", tries
             FROM chat_jobs WHERE due_at <= $1 AND ${filterOf[queue]} ORDER BY due_at, id LIMIT $2`,
    values: [instantOf(clock), limit],
  });

export const completeJob = (db: Queryable, jobId: bigint) =>
  db.query({ text: 'DELETE FROM chat_jobs WHERE id = $1', values: [jobId] });

export const postponeJob = (db: Queryable, clock: Clock, job: Job, ms: number) =>
  db.query({
    text: 'UPDATE chat_jobs SET due_at = $2, tries = tries + 1 WHERE id = $1',
    values: [job.jobId, new Date(clock.nowMs() + ms)],
  });

/** Keeps the order within a chat: all its other messages wait as long. */
export const postponeChat = (db: Queryable, clock: Clock, job: Job, ms: number) =>
  db.query({
    text: `UPDATE chat_jobs SET due_at = greatest(due_at, $3), tries = tries + (id = $1)::int
            WHERE id = $1 OR (chat_id IS NOT DISTINCT FROM $2 AND ${filterOf.messages})`,
    values: [job.jobId, job.chatId, new Date(clock.nowMs() + ms)],
  });

/** Drops the messages of a chat. Deletions stay: the user can read the chat again after unblocking the bot. */
export const dropMessages = (db: Queryable, chatId: bigint) =>
  db.query({ text: `DELETE FROM chat_jobs WHERE chat_id = $1 AND ${filterOf.messages}`, values: [chatId] });
