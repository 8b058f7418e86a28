import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { findValue, type Queryable, transaction } from '../db/postgres/index.ts';
import { keptDays, type SessionClient, type StoredSession, sessionsOf } from '../db/sessions/index.ts';
import type { OperatorRole } from './permissions.ts';

/** The operator behind a request, from the session. */
export interface SignedIn extends StoredSession {
  operatorId: Id<'opr'>;
  name: string;
  role: OperatorRole;
}

const maxAgeMs = 12 * 3_600_000;

type Own = { operator_id: string } & Pick<SignedIn, 'name' | 'role'>;

const sessions = sessionsOf<Own>({
  table: 'operator_sessions',
  own: 's.operator_id, o.name, o.role',
  join: 'JOIN operators o ON o.id = s.operator_id',
  isUsable: 'o.disabled_at IS NULL',
  idleMs: 30 * 60_000,
});

const toSignedIn = ({ operator_id, ...session }: StoredSession & Own): SignedIn => ({
  ...session,
  operatorId: idFromUuid('opr', operator_id),
});

/** Those that ended long ago are deleted. */
export async function openSession(tx: Queryable, clock: Clock, operatorId: Id<'opr'>, client: SessionClient) {
  const operator_id = uuidFromId(operatorId);
  await tx.query({
    text: 'DELETE FROM operator_sessions WHERE operator_id = $1 AND ends_at < $2',
    values: [operator_id, new Date(clock.nowMs() - keptDays * 86_400_000)],
  });
  return sessions.open(tx, clock, { operator_id }, client, maxAgeMs);
}

export async function findSession(...given: Parameters<(typeof sessions)['find']>) {
  const found = await sessions.find(...given);
  return found && toSignedIn(found);
}

/** Newest first; of one operator, or of all. */
export async function listSessions(db: Queryable, clock: Clock, operatorId: Id<'opr'> | undefined) {
  const ofOperator = '($3::uuid IS NULL OR s.operator_id = $3)';
  const value = operatorId ? uuidFromId(operatorId) : null;
  return (await sessions.list(db, clock, ofOperator, value, 500)).map(toSignedIn);
}

/** Signing out, or revoking; `ofOperator` limits it to the sessions of that operator. */
export const endSession = (
  audit: AuditContext,
  sessionId: Id<'ses'>,
  { action, ofOperator }: { action: 'session.sign_out' | 'session.revoke'; ofOperator?: Id<'opr'> },
): Promise<'ended' | 'no_session'> =>
  transaction(audit.pool, async tx => {
    const name = await findValue<string>(tx, {
      text: `UPDATE operator_sessions s SET ended_at = $2 FROM operators o
              WHERE s.id = $1 AND s.ended_at IS NULL AND o.id = s.operator_id AND ($3::uuid IS NULL OR o.id = $3)
              RETURNING o.name`,
      values: [uuidFromId(sessionId), instantOf(audit.clock), ofOperator ? uuidFromId(ofOperator) : null],
    });
    if (name === undefined) return 'no_session';
    await recordChange(tx, audit, { action, subject: name, after: { session_id: sessionId } });
    return 'ended';
  });

/** Runs in the transaction of the change that ends the sessions. */
export async function endAllSessions(tx: Queryable, clock: Clock, operatorId: Id<'opr'>): Promise<number> {
  const { rowCount } = await tx.query({
    text: 'UPDATE operator_sessions SET ended_at = $2 WHERE operator_id = $1 AND ended_at IS NULL',
    values: [uuidFromId(operatorId), instantOf(clock)],
  });
  return rowCount ?? 0;
}
