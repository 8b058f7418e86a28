import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, newId, uuidFromId } from '../base/ids.ts';
import {
  idleMs,
  lastSeenPrecisionMs,
  maxAgeMs,
  maxUserAgentLength,
  retentionMs,
} from '../base/session-lifetime.ts';
import { hashOfToken, isToken, newToken } from '../base/token.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { commitsWithoutWaiting, type Queryable, transaction } from '../db/postgres/index.ts';
import type { OperatorRole } from './permissions.ts';

/** The operator behind a request, from the session. */
export interface SignedIn {
  sessionId: Id<'ses'>;
  operatorId: Id<'opr'>;
  name: string;
  role: OperatorRole;
  lastSeenAt: Date;
  endsAt: Date;
}

export interface ClientInfo {
  address: string;
  userAgent: string;
}

/** Only the token's hash is stored; the token itself is returned once. */
export async function openSession(
  tx: Queryable,
  clock: Clock,
  operatorId: Id<'opr'>,
  { address, userAgent }: ClientInfo,
): Promise<{ sessionId: Id<'ses'>; token: string }> {
  const token = newToken();
  const sessionId = newId('ses', clock);
  await tx.query({
    text: 'DELETE FROM operator_sessions WHERE operator_id = $1 AND ends_at < $2',
    values: [uuidFromId(operatorId), new Date(clock.nowMs() - retentionMs)],
  });
  await tx.query({
    text: `INSERT INTO operator_sessions (id, operator_id, token_hash, address, user_agent, created_at, last_seen_at, ends_at)
           VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`,
    values: [
      uuidFromId(sessionId),
      uuidFromId(operatorId),
      hashOfToken(token),
      address,
      userAgent.slice(0, maxUserAgentLength),
      instantOf(clock),
      new Date(clock.nowMs() + maxAgeMs),
    ],
  });
  return { sessionId, token };
}

const isOpen = `s.ended_at IS NULL AND s.ends_at > $1 AND s.last_seen_at > $2 AND o.disabled_at IS NULL`;
const openSince = (clock: Clock) => [instantOf(clock), new Date(clock.nowMs() - idleMs)];

export interface OpenSession extends SignedIn, ClientInfo {
  createdAt: Date;
}

type SessionRow = Omit<OpenSession, 'sessionId' | 'operatorId'> & { id: string; operator_id: string };

const selectSessions = `SELECT s.id, s.operator_id, o.name, o.role, s.address, s.user_agent AS "userAgent",
                               s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt", s.ends_at AS "endsAt"
                          FROM operator_sessions s JOIN operators o ON o.id = s.operator_id`;

const toSession = ({ id, operator_id, ...row }: SessionRow): OpenSession => ({
  sessionId: idFromUuid('ses', id),
  operatorId: idFromUuid('opr', operator_id),
  ...row,
});

/**
 * Reads the database for every request, so that a changed role or an ended session takes effect at once. Requests that
 * a page sends by itself are not user activity and do not keep the session alive.
 */
export async function findSession(
  db: Queryable,
  clock: Clock,
  token: string,
  { isUserActivity }: { isUserActivity: boolean },
): Promise<SignedIn | undefined> {
  if (!isToken(token)) return undefined;
  const { rows } = await db.query<SessionRow>({
    name: 'find an operator session',
    text: `${selectSessions} WHERE s.token_hash = $3 AND ${isOpen}`,
    values: [...openSince(clock), hashOfToken(token)],
  });
  const [row] = rows;
  if (!row) return undefined;
  if (isUserActivity && clock.nowMs() - row.lastSeenAt.getTime() >= lastSeenPrecisionMs) {
    row.lastSeenAt = instantOf(clock);
    await db.query({
      text: `UPDATE operator_sessions SET last_seen_at = greatest(last_seen_at, $2) FROM ${commitsWithoutWaiting} WHERE id = $1`,
      values: [row.id, row.lastSeenAt],
    });
  }
  return toSession(row);
}

/** Newest first; of one operator, or of all. */
export async function listSessions(
  db: Queryable,
  clock: Clock,
  operatorId: Id<'opr'> | undefined,
): Promise<OpenSession[]> {
  const { rows } = await db.query<SessionRow>({
    text: `${selectSessions} WHERE ${isOpen} AND ($3::uuid IS NULL OR s.operator_id = $3) ORDER BY s.id DESC LIMIT 500`,
    values: [...openSince(clock), operatorId ? uuidFromId(operatorId) : null],
  });
  return rows.map(toSession);
}

/** Signing out, or revoking; `ofOperator` limits it to the sessions of that operator. */
export function endSession(
  audit: AuditContext,
  sessionId: Id<'ses'>,
  { action, ofOperator }: { action: 'session.sign_out' | 'session.revoke'; ofOperator?: Id<'opr'> },
): Promise<'ended' | 'no_session'> {
  return transaction(audit.pool, async tx => {
    const { rows } = await tx.query<{ name: string }>({
      text: `UPDATE operator_sessions s SET ended_at = $2 FROM operators o
              WHERE s.id = $1 AND s.ended_at IS NULL AND o.id = s.operator_id AND ($3::uuid IS NULL OR o.id = $3)
              RETURNING o.name`,
      values: [uuidFromId(sessionId), instantOf(audit.clock), ofOperator ? uuidFromId(ofOperator) : null],
    });
    if (!rows[0]) return 'no_session';
    await recordChange(tx, audit, { action, subject: rows[0].name, after: { session_id: sessionId } });
    return 'ended';
  });
}

/** Runs in the transaction of the change that ends the sessions. */
export async function endAllSessions(tx: Queryable, clock: Clock, operatorId: Id<'opr'>): Promise<number> {
  const { rowCount } = await tx.query({
    text: 'UPDATE operator_sessions SET ended_at = $2 WHERE operator_id = $1 AND ended_at IS NULL',
    values: [uuidFromId(operatorId), instantOf(clock)],
  });
  return rowCount ?? 0;
}
