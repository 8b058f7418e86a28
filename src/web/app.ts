import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TooManyChangesError } from '../db/audit/index.ts';
import { isDatabaseUnavailable } from '../db/postgres/index.ts';
import type { WebApp } from './csrf.ts';
import { refuse, sendRefusal } from './replies.ts';
import type { Route } from './routes.ts';
import { setSecurityHeaders } from './security-headers.ts';
import { builtPagesOf, staticFileRoutes } from './static-files.ts';

const tooManyChanges = refuse(429, 'too_many_changes', 'Too many changes today: try again tomorrow (UTC).');
const unavailable = refuse(503, 'unavailable', 'The database is not responding: try later.');
const unknown = refuse(404, 'not_found', 'Page not found.');

interface AppDeps {
  log: { error(details: object, message: string): void };
  /** The folder with the built pages; tests use their own. */
  pagesFolder?: string;
}

interface Api<Deps> {
  guard: (scope: FastifyInstance, deps: Deps) => void;
  routes: Route<Deps>[];
  /** What the guard reads of a route that is open to everybody. */
  open: FastifyContextConfig;
}

/** The pages of an app under its name, and below that their API. */
export const createApp =
  <Deps extends AppDeps>(app: WebApp, deps: Deps, { guard, routes, open }: Api<Deps>) =>
  async (server: FastifyInstance): Promise<void> => {
    await server.register(
      async scope => {
        guard(scope, deps);
        prepareApiScope(scope, app, deps);
        for (const add of routes) add(scope, deps);
        // Before the body is read, as for unknown paths outside of the app.
        scope.all('/*', { config: open, onRequest: refuseUnknown }, refuseUnknown);
      },
      { prefix: `/${app}/api` },
    );
    await server.register(
      async scope => staticFileRoutes(scope, app, deps.pagesFolder ?? builtPagesOf(app)),
      { prefix: `/${app}` },
    );
  };

/** What all answers of the API behind the pages have in common: headers, and 503 while the database does not respond. */
function prepareApiScope(scope: FastifyInstance, app: WebApp, { log }: AppDeps): void {
  scope.addHook('onSend', async (_request, reply) => {
    setSecurityHeaders(reply);
    reply.header('Cache-Control', 'no-store');
  });
  scope.setErrorHandler((error, request, reply) => {
    if (error instanceof TooManyChangesError) return sendRefusal(request, reply, tooManyChanges);
    if (!isDatabaseUnavailable(error)) throw error;
    log.error({ err: error, request_id: request.id }, `a request of the ${app} failed`);
    return sendRefusal(request, reply, unavailable);
  });
}

const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) =>
  sendRefusal(request, reply, unknown);
