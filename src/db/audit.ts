import { type Clock, instantOf } from '../base/clock.ts';
import type { Pool, Queryable } from './pool.ts';

/** Where a person stands who changes something: with the database, a clock and a name for the record. */
export interface Desk {
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
export async function recordChange(tx: Queryable, { clock, actor }: Desk, change: Change): Promise<void> {
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
