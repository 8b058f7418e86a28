import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { type Queryable, transaction } from '../../db/postgres/index.ts';
import { pruneOlder } from '../../db/retention/index.ts';
import { keptDays, type SessionClient, type StoredSession, sessionsOf } from '../../db/sessions/index.ts';
import { auditContextOfPerson, type Person } from '../members.ts';

/** The person behind a request. Their teams and roles are not part of it: these are read for every request. */
export interface PortalSession extends StoredSession, Person {
  isRemembered: boolean;
}

const sessions = sessionsOf<Omit<PortalSession, keyof StoredSession>>({
  table: 'portal_sessions',
  own: 's.user_id AS "userId", s.name, s.remembered AS "isRemembered"',
});

const hourMs = 3_600_000;
/** On a device that somebody has chosen to be remembered on. */
export const rememberedDays = 30;

export const findPortalSession = sessions.find;
export const lockSession = sessions.lock;

export interface SignInDeps extends Pick<AuditContext, 'pool' | 'clock'> {
  portalSessionHours: number;
}

export interface PortalClient extends SessionClient {
  isRemembered: boolean;
}

export interface PortalSignIn {
  token: string;
  session: PortalSession;
}

export async function openSession(
  tx: Queryable,
  deps: SignInDeps,
  { userId, name }: Person,
  client: PortalClient,
): Promise<PortalSignIn> {
  const audit = auditContextOfPerson(deps, { userId });
  const { clock } = deps;
  const { isRemembered } = client;
  const owner = { user_id: userId, name, remembered: isRemembered };
  const maxAgeMs = (isRemembered ? rememberedDays * 24 : deps.portalSessionHours) * hourMs;
  const { sessionId, token } = await sessions.open(tx, clock, owner, client, maxAgeMs);
  await recordChange(tx, audit, {
    action: 'portal.sign_in',
    subject: audit.actor,
    after: { session_id: sessionId, address: client.address, remembered: isRemembered },
    countedAs: 'sign-ins',
  });
  return { token, session: (await sessions.find(tx, clock, token, { isUserActivity: false }))! };
}

/** Lists those of one person, newest first. */
export const listPortalSessions = (db: Queryable, clock: Clock, userId: bigint): Promise<PortalSession[]> =>
  sessions.list(db, clock, 's.user_id = $3', userId, 100);

/** Signing out, here or elsewhere. A person ends only their own sessions. */
export const endPortalSession = (audit: AuditContext, userId: bigint, sessionId: Id<'ses'>) =>
  transaction(audit.pool, tx => endSession(tx, audit, userId, sessionId));

export async function endSession(tx: Queryable, audit: AuditContext, userId: bigint, sessionId: Id<'ses'>) {
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
  pruneOlder(db, clock, { table: 'portal_sessions', since: 'ends_at', keptDays });
