import type { FastifyRequest } from 'fastify';
import {
  endSession,
  listPermissions,
  listSessions,
  roleHasPermission,
  type SignedIn,
} from '../../operators/index.ts';
import { done, idOr, refuse, sessionRow, sessionTimes } from '../../web/index.ts';
import { clearSessionCookie, readSessionToken } from '../cookie.ts';
import type { ConsoleDeps } from '../deps.ts';
import { findSignedIn } from '../guard.ts';
import { auditContextOf, get, post } from '../route.ts';

export const sessionObject = (deps: ConsoleDeps, token: string, signedIn: SignedIn) => ({
  operator: { operator_id: signedIn.operatorId, name: signedIn.name, role: signedIn.role },
  permissions: listPermissions(signedIn.role),
  ...sessionTimes(deps, 'console', token, signedIn),
});

const ownSession = [
  get('/session', 'see', {}, (request, deps) =>
    sessionObject(deps, readSessionToken(request)!, request.operator),
  ),
  // The first request of a page. Not signed in is a normal answer here: browsers log every 401 as an error.
  get('/session/current', 'nothing', {}, async (request, deps) => {
    const found = await findSignedIn(deps, request);
    return { session: found ? sessionObject(deps, found.token, found.operator) : null };
  }),
  post('/logout', 'see', {}, async (request, deps, _found, reply) => {
    await endSession(auditContextOf(deps, request), request.operator.sessionId, {
      action: 'session.sign_out',
    });
    clearSessionCookie(reply);
    return done;
  }),
];

/** Admins see and end the sessions of all operators, everybody else only their own. */
const visibleSessions = ({ operator }: FastifyRequest) =>
  roleHasPermission(operator.role, 'operators.manage') ? undefined : operator.operatorId;

export const showSessions = get('/sessions', 'see', {}, async (request, deps) => {
  const sessions = await listSessions(deps.db, deps.clock, visibleSessions(request));
  return {
    data: sessions.map(session => ({
      ...sessionRow(session, request.operator.sessionId),
      operator_id: session.operatorId,
      operator: session.name,
    })),
  };
});

// A session that the operator may not end does not exist for them.
const noSession = refuse(404, 'no_session', 'Session not found, or it has already ended.');
const find = idOr('ses', noSession);
const revokeSession = post('/sessions/:id/revoke', 'see', { find }, async (request, deps, id) => {
  const ofOperator = visibleSessions(request);
  const how = { action: 'session.revoke', ...(ofOperator ? { ofOperator } : {}) } as const;
  const outcome = await endSession(auditContextOf(deps, request), id, how);
  return outcome === 'ended' ? done : noSession;
});

/** The session of the signed-in operator, signing out, and the list of open sessions. */
export const sessionRoutes = [...ownSession, showSessions, revokeSession];
