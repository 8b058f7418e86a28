import { type Clock, instantOf } from '../../base/clock.ts';
import { hashOfToken, isToken, newToken } from '../../base/token.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { findRow, hasRow, type Queryable, transaction } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import type { Person } from '../members.ts';

const validMs = 10 * 60_000;

/** A link of the bot, for the person who asked for it. A new one replaces those that were not used. */
export function createPortalLink({ pool, clock }: AuditContext, person: Person): Promise<string> {
  return transaction(pool, async tx => {
    const token = newToken();
    await tx.query({
      text: 'DELETE FROM portal_links WHERE user_id = $1 AND used_at IS NULL',
      values: [person.userId],
    });
    await tx.query({
      text: 'INSERT INTO portal_links (hash, user_id, name, expires_at) VALUES ($1, $2, $3, $4)',
      values: [hashOfToken(token), person.userId, person.name, new Date(clock.nowMs() + validMs)],
    });
    return token;
  });
}

/** Whose link it is. Another request with it waits until the end of the transaction. */
export async function findPortalLink(
  tx: Queryable,
  clock: Clock,
  token: string,
): Promise<Person | undefined> {
  if (!isToken(token)) return undefined;
  return findRow<Person>(tx, {
    text: `SELECT user_id AS "userId", name FROM portal_links
            WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 FOR UPDATE`,
    values: [hashOfToken(token), instantOf(clock)],
  });
}

/** Takes a link that was found in the same transaction. */
export const takePortalLink = (tx: Queryable, clock: Clock, token: string) =>
  hasRow(tx, {
    text: 'UPDATE portal_links SET used_at = $2 WHERE hash = $1',
    values: [hashOfToken(token), instantOf(clock)],
  });

/** Data that Telegram has signed, and that proves who opened a Mini App until it is too old. */
export interface SignedData extends Person {
  /** What was signed, for its hash. */
  text: string;
  expiresAt: Date;
}

/** True once: a copy of the same data does not sign in again. */
export const takeSignedData = (tx: Queryable, clock: Clock, { text, userId, name, expiresAt }: SignedData) =>
  hasRow(tx, {
    text: `INSERT INTO portal_links (hash, user_id, name, expires_at, used_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (hash) DO NOTHING`,
    values: [hashOfToken(text), userId, name, expiresAt, instantOf(clock)],
  });

/** By then neither a link nor signed data is valid any more. */
export const prunePortalLinks = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'portal_links', since: 'expires_at', keptDays: 1 });
