import { type Clock, instantOf } from '../base/clock.ts';
import type { Pool, Queryable } from './pool.ts';

/** Where a person stands who changes something: with the database, a clock and a name for the record. */
export interface AuditContext {
  pool: Pool;
  clock: Clock;
  actor: string;
}

export interface Change {
  action: string;
  subject: string;
  before?: unknown;
  after?: unknown;
}

/** Goes into the same transaction as the change itself: neither is ever there without the other. */
export async function recordChange(
  tx: Queryable,
  { clock, actor }: AuditContext,
  change: Change,
): Promise<void> {
  await tx.query({
    text: 'INSERT INTO audit (at, actor, action, subject, before, after) VALUES ($1, $2, $3, $4, $5, $6)',
    values: [
      instantOf(clock),
      actor,
      change.action,
      change.subject,
      toJson(change.before),
      toJson(change.after),
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

/** What people did about one subject, the oldest first; the last ones if there were very many. */
export async function changesOf(db: Queryable, subject: string, limit = 200): Promise<PastChange[]> {
  const { rows } = await db.query<PastChange>({
    text: `SELECT at, actor, action, before, after FROM audit WHERE subject = $1 ORDER BY id DESC LIMIT $2`,
    values: [subject, limit],
  });
  return rows.reverse();
}
