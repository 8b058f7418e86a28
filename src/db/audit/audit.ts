import { type Clock, instantOf } from '../../base/clock.ts';
import { type Pool, type Queryable, readRows } from '../postgres/index.ts';
import { takeDailyChange } from './daily-changes.ts';

/** What a change by a person needs: the database, a clock, and the actor for the audit log. */
export interface AuditContext {
  pool: Pool;
  clock: Clock;
  actor: string;
  /** Why, if the person was asked; it is part of the record. */
  reason?: string;
  /** True for a person whom no operator has enrolled, such as any user of Telegram: the changes of a day have a maximum. */
  isBounded?: boolean;
}

/** The person has made as many changes today as one may. Nothing of this one was made. */
export class TooManyChangesError extends Error {}

export interface Change {
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
  /** It takes something away, such as a key: never refused, since what was made before bounds it. */
  isRemoval?: true;
  /** What it is counted as for a person; by default `changes`. */
  countedAs?: 'sign-ins' | 'payments by hand';
}

/** Writes to the audit log, in the transaction of the change itself: there is never one without the other. */
export async function recordChange(
  tx: Queryable,
  { clock, actor, reason, isBounded = false }: AuditContext,
  change: Change,
): Promise<void> {
  // Here, so that it holds for every change, whichever module makes it.
  const { isRemoval, countedAs = 'changes' } = change;
  if (isBounded && !isRemoval && !(await takeDailyChange(tx, clock, countedAs, actor)))
    throw new TooManyChangesError(`${actor} has made too many changes today`);
  await tx.query({
    text: 'INSERT INTO audit (at, actor, action, subject, before, after) VALUES ($1, $2, $3, $4, $5, $6)',
    values: [
      instantOf(clock),
      actor,
      change.action,
      change.subject,
      toJson(change.before),
      toJson(reason === undefined ? change.after : { ...(change.after as object | undefined), reason }),
    ],
  });
}

function toJson(value: unknown): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? member.toString() : member));
}

export interface PastChange {
  at: Date;
  actor: string;
  action: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** The changes of one subject, oldest first; only the last ones if there are very many. */
export async function changesOf(db: Queryable, subject: string, limit = 200): Promise<PastChange[]> {
  const newestFirst = await readRows<PastChange>(db, {
    text: `SELECT at, actor, action, before, after FROM audit WHERE subject = $1 ORDER BY id DESC LIMIT $2`,
    values: [subject, limit],
  });
  return newestFirst.reverse();
}
