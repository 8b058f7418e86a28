import { type Clock, instantOf } from '../../base/clock.ts';
import { hashOfToken, isToken, newToken } from '../../base/token.ts';
import type { AuditContext } from '../../db/audit/index.ts';
import { findRow, hasRow, type Queryable, transaction } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import { auditContextOfPerson, type Person } from '../members.ts';
import * as sessions from './sessions.ts';

const validMs = 10 * 60_000;

/** A link of the bot, for the person who asked for it. A new one replaces those that were not used. */
export const createPortalLink = ({ pool, clock }: AuditContext, person: Person): Promise<string> =>
  transaction(pool, async tx => {
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

/** Whose link it is. Another request with it waits until the end of the transaction. */
async function findPortalLink(tx: Queryable, clock: Clock, token: string): Promise<Person | undefined> {
  if (!isToken(token)) return undefined;
  return findRow<Person>(tx, {
    text: `SELECT user_id AS "userId", name FROM portal_links
            WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 FOR UPDATE`,
    values: [hashOfToken(token), instantOf(clock)],
  });
}

/** Takes a link that was found in the same transaction. */
const takePortalLink = (tx: Queryable, clock: Clock, token: string) =>
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
const takeSignedData = (tx: Queryable, clock: Clock, { text, userId, name, expiresAt }: SignedData) =>
  hasRow(tx, {
    text: `INSERT INTO portal_links (hash, user_id, name, expires_at, used_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (hash) DO NOTHING`,
    values: [hashOfToken(text), userId, name, expiresAt, instantOf(clock)],
  });

/** By then neither a link nor signed data is valid any more. */
export const prunePortalLinks = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'portal_links', since: 'expires_at', keptDays: 1 });

/** Where somebody arrives. */
interface Browser extends sessions.PortalClient {
  /** The token in its cookie. */
  sessionToken: string | undefined;
  /** The session that somebody agreed to replace. */
  replaces: string | undefined;
}

/**
 * `other_person`: the browser has a session of somebody else. Any site can open the portal with a link of its own, so that
 * its visitor would go on as another person without noticing, and pay to a foreign address. So people are asked first.
 */
export type PortalSignInResult =
  | ({ outcome: 'signed_in' } & sessions.PortalSignIn)
  | { outcome: 'no_link' }
  | { outcome: 'other_person'; arriving: Person; session: sessions.PortalSession; isOpen: boolean };

/** The link and the session are one transaction: a link is used only if there is a session. */
export const signInWithLink = (
  deps: sessions.SignInDeps,
  token: string,
  browser: Browser,
): Promise<PortalSignInResult> =>
  transaction(deps.pool, async tx => {
    const person = await findPortalLink(tx, deps.clock, token);
    return person ? signIn(tx, deps, person, browser, () => takePortalLink(tx, deps.clock, token)) : noLink;
  });

export const signInWithData = (
  deps: sessions.SignInDeps,
  data: SignedData,
  browser: Browser,
): Promise<PortalSignInResult> =>
  transaction(deps.pool, tx => signIn(tx, deps, data, browser, () => takeSignedData(tx, deps.clock, data)));

const noLink = { outcome: 'no_link' } as const;

/** `take` uses up what proves who arrives: not before the question is answered. */
async function signIn(
  tx: Queryable,
  deps: sessions.SignInDeps,
  arriving: Person,
  browser: Browser,
  take: () => Promise<boolean>,
): Promise<PortalSignInResult> {
  const { clock } = deps;
  // An ended session asks as well: the cookie may stay in the browser.
  const before = browser.sessionToken
    ? await sessions.lockSession(tx, clock, browser.sessionToken)
    : undefined;
  if (before && before.session.userId !== arriving.userId && before.session.sessionId !== browser.replaces)
    return { outcome: 'other_person', arriving, ...before };
  if (!(await take())) return noLink;
  if (before) {
    const { userId, sessionId } = before.session;
    await sessions.endSession(tx, auditContextOfPerson(deps, before.session), userId, sessionId);
  }
  return { outcome: 'signed_in', ...(await sessions.openSession(tx, deps, arriving, browser)) };
}
