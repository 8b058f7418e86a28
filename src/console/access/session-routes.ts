import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endSession, idleEndOf, listPermissions, type SignedIn } from '../../operators/index.ts';
import { readSessionToken, takeSessionToken } from '../cookie.ts';
import type { ConsoleDeps } from '../deps.ts';
import { csrfTokenOf, findVisitor } from '../guard.ts';
import { auditContextOf, done } from '../replies.ts';
import type { Entrance, Session } from '../shapes/access.ts';

export function sessionObject(deps: ConsoleDeps, token: string, signedIn: SignedIn): Session {
  const { operatorId, name, role, endsAt } = signedIn;
  return {
    operator: { operator_id: operatorId, name, role },
    permissions: listPermissions(role),
    csrf_token: csrfTokenOf(deps.secretKey, token),
    idle_ends_at: idleEndOf(signedIn).toISOString(),
    ends_at: endsAt.toISOString(),
  };
}

/** Who has signed in, and signing out. */
export function sessionRoutes(scope: FastifyInstance, deps: ConsoleDeps): void {
  scope.get('/session', { config: { needs: 'see' } }, (request: FastifyRequest) =>
    Promise.resolve(sessionObject(deps, readSessionToken(request)!, request.operator)),
  );

  // What a page asks first: to find nobody signed in is no error, and browsers report refusals as errors.
  scope.get('/entrance', { config: { needs: 'nothing' } }, async request => {
    const found = await findVisitor(deps, request);
    const entrance: Entrance = { session: found ? sessionObject(deps, found.token, found.operator) : null };
    return entrance;
  });

  scope.post('/logout', { config: { needs: 'see' } }, async (request, reply) => {
    await endSession(auditContextOf(deps, request), request.operator.sessionId, {
      action: 'session.sign_out',
    });
    takeSessionToken(reply);
    return done;
  });
}
