import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../../base/ids.ts';
import {
  idleMs,
  lastSeenPrecisionMs,
  maxAgeMs,
  maxUserAgentLength,
  retentionMs,
} from '../../base/session-lifetime.ts';
import { hashOfToken, isToken, newToken } from '../../base/token.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { commitsWithoutWaiting, type Pool, type Queryable, transaction } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import { auditContextOfPerson, type Person } from '../members.ts';

/** The person behind a request. Their teams and roles are not part of it: these are read for every request. */
export interface PortalSession extends Person {
  sessionId: Id<'ses'>;
  address: string;
  userAgent: string;
  createdAt: Date;
  lastSeenAt: Date;
  endsAt: Date;
}

const columns = `id, user_id AS "userId", name, address, user_agent AS "userAgent", created_at AS "createdAt",
                 last_seen_at AS "lastSeenAt", ends_at AS "endsAt"`;

type SessionRow = Omit<PortalSession, 'sessionId'> & { id: string };

const toSession = ({ id, ...session }: SessionRow): PortalSession => ({
  sessionId: idFromUuid('ses', id),
  ...session,
});

export interface SignInDeps {
  pool: Pool;
  clock: Clock;
}

export interface Client {
  address: string;
  userAgent: string;
}

export interface PortalSignIn {
  token: string;
  session: PortalSession;
}

/** Only the token's hash is stored; the token itself is returned once. */
export async function openSession(
  tx: Queryable,
  deps: SignInDeps,
  { userId, name }: Person,
  { address, userAgent }: Client,
): Promise<PortalSignIn> {
  const audit = auditContextOfPerson(deps, { userId });
  const { clock } = deps;
  const token = newToken();
  const sessionId = newId('ses', clock);
  const { rows } = await tx.query<SessionRow>({
    text: `INSERT INTO portal_sessions (id, user_id, name, token_hash, address, user_agent, created_at, last_seen_at, ends_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8) RETURNING ${columns}`,
    values: [
      uuidFromId(sessionId),
      userId,
      name,
      hashOfToken(token),
      address,
      userAgent.slice(0, maxUserAgentLength),
      instantOf(clock),
      new Date(clock.nowMs() + maxAgeMs),
    ],
  });
  await recordChange(tx, audit, {
    action: 'portal.sign_in',
    subject: audit.actor,
    after: { session_id: sessionId, address },
    countedAs: 'sign-ins',
  });
  return { token, session: toSession(rows[0]!) };
}

const isOpen = 'ended_at IS NULL AND ends_at > $1 AND last_seen_at > $2';
const openSince = (clock: Clock) => [instantOf(clock), new Date(clock.nowMs() - idleMs)];

/** Reads the database for every request, so that an ended session takes effect at once in every process. */
export async function findPortalSession(
  db: Queryable,
  clock: Clock,
  token: string,
  { isUserActivity }: { isUserActivity: boolean },
): Promise<PortalSession | undefined> {
  if (!isToken(token)) return undefined;
  const { rows } = await db.query<SessionRow>({
    name: 'find a portal session',
    text: `SELECT ${columns} FROM portal_sessions WHERE token_hash = $3 AND ${isOpen}`,
    values: [...openSince(clock), hashOfToken(token)],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (isUserActivity && clock.nowMs() - row.lastSeenAt.getTime() >= lastSeenPrecisionMs) {
    row.lastSeenAt = instantOf(clock);
    await db.query({
      text: `UPDATE portal_sessions SET last_seen_at = greatest(last_seen_at, $2) FROM ${commitsWithoutWaiting} WHERE id = $1`,
      values: [row.id, row.lastSeenAt],
    });
  }
  return toSession(row);
}

/** Lists those of one person, newest first. */
export async function listPortalSessions(
  db: Queryable,
  clock: Clock,
  userId: bigint,
): Promise<PortalSession[]> {
  const { rows } = await db.query<SessionRow>({
    text: `SELECT ${columns} FROM portal_sessions WHERE ${isOpen} AND user_id = $3 ORDER BY id DESC LIMIT 100`,
    values: [...openSince(clock), userId],
  });
  return rows.map(toSession);
}

/** The session of a token, which nobody else changes until the end of the transaction; also if it has ended. */
export async function lockSession(
  tx: Queryable,
  clock: Clock,
  token: string,
): Promise<{ session: PortalSession; isOpen: boolean } | undefined> {
  if (!isToken(token)) return undefined;
  const { rows } = await tx.query<SessionRow & { isOpen: boolean }>({
    text: `SELECT ${columns}, ${isOpen} AS "isOpen" FROM portal_sessions WHERE token_hash = $3 FOR UPDATE`,
    values: [...openSince(clock), hashOfToken(token)],
  });
  if (!rows[0]) return undefined;
  const { isOpen: open, ...row } = rows[0];
  return { session: toSession(row), isOpen: open };
}

/** Signing out, here or elsewhere. A person ends only their own sessions. */
export const endPortalSession = (
  audit: AuditContext,
  userId: bigint,
  sessionId: Id<'ses'>,
): Promise<'ended' | 'no_session'> => transaction(audit.pool, tx => endSession(tx, audit, userId, sessionId));

export async function endSession(
  tx: Queryable,
  audit: AuditContext,
  userId: bigint,
  sessionId: Id<'ses'>,
): Promise<'ended' | 'no_session'> {
  const { rowCount } = await tx.query({
    text: 'UPDATE portal_sessions SET ended_at = $3 WHERE id = $1 AND user_id = $2 AND ended_at IS NULL',
    values: [uuidFromId(sessionId), userId, instantOf(audit.clock)],
  });
  if (rowCount === 0) return 'no_session';
  await recordChange(tx, audit, {
    action: 'portal.sign_out',
    subject: `telegram:${userId}`,
    after: { session_id: sessionId },
    isRemoval: true,
  });
  return 'ended';
}

export const prunePortalSessions = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, {
    table: 'portal_sessions',
    since: 'ends_at',
    keptDays: retentionMs / 86_400_000,
  });
