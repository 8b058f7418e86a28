import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { systemClock } from '../base/clock.ts';
import { adviceOf, allErrors } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { JsonObject } from '../base/json.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { BatcherFullError } from '../db/batch.ts';
import { isDatabaseFailing } from '../db/pool.ts';
import { accountRoutes } from './account-routes.ts';
import { authorize } from './authorize.ts';
import { readBody, refuseUnstorableText, toPlain } from './body.ts';
import type { ApiDeps } from './deps.ts';
import { leaveQuickly } from './drain.ts';
import { type ErrorCode, ShapeError, sendError } from './errors.ts';
import { eventRoutes } from './event-routes.ts';
import { measure } from './metrics.ts';
import { documentApi } from './openapi.ts';
import { paymentRoutes } from './payment-routes.ts';
import { rateRoutes } from './rate-routes.ts';
import { ErrorBody, Payment, ValidationErrorBody } from './schemas.ts';
import { statementRoutes } from './statement-routes.ts';
import { updateRoute } from './telegram-webhook-route.ts';
import { testClockRoutes } from './test-clock-routes.ts';
import { validatorCompiler } from './validation.ts';

const bodyLimitBytes = 64 * 1024;
/** Headers and body must arrive within these; an answer may take longer. */
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;

/** The HTTP door: the partner API, its description, how the process is doing, and the console if there is one. */
export async function createServer(deps: ApiDeps): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    exposeHeadRoutes: false,
    // Its own answer has no code of the contract; ours is below.
    return503OnClosing: false,
    genReqId: () => newId('req', deps.clock),
    clientErrorHandler,
    // An address that cannot be decoded, or is longer than any id, is one that does not exist.
    frameworkErrors: (_error, request, reply) =>
      sendError(
        request as FastifyRequest,
        reply.header('X-Request-Id', request.id) as FastifyReply,
        'not_found',
      ),
    // Node would answer by itself, without a request id.
    http: { requireHostHeader: false },
    ...(deps.trustProxy.length > 0 ? { trustProxy: deps.trustProxy } : {}),
  });
  server.server.headersTimeout = headersTimeoutMs;
  // Left alone, Node would answer the one without a request id and the other not at all.
  server.server.on('checkExpectation', (request, response) =>
    server.server.emit('request', request, response),
  );
  server.server.on('connect', (_request, socket) => refuseOnSocket(socket));
  const isLeaving = leaveQuickly(server);
  server.setValidatorCompiler(validatorCompiler);
  for (const schema of [Payment, ErrorBody, ValidationErrorBody]) server.addSchema(schema);

  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    if (isLeaving())
      return void sendError(request, reply.header('Connection', 'close'), 'gateway_unavailable');
    // Before its body is read: what is not there has no opinion on it.
    if (request.is404) sendError(request, reply, 'not_found');
    else done();
  });
  server.setNotFoundHandler((request, reply) => sendError(request, reply, 'not_found'));
  server.setErrorHandler((error, request, reply) => {
    // Its body has been read to the end, so that the connection can go on.
    if (error instanceof ShapeError)
      return reply.removeHeader('connection').status(422).send({ detail: error.details });
    const code = codeOf(error);
    if (allErrors[code].status >= 500)
      deps.log.error({ err: error, request_id: request.id }, 'a request failed');
    return sendError(request, reply, code, reasonOf(error));
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: object, bytes: Buffer) => {
    const lossless = readBody(bytes);
    refuseUnstorableText(lossless);
    (request as { lossless?: JsonObject }).lossless = lossless;
    return toPlain(lossless);
  });

  const { servesPartners = true } = deps;
  if (servesPartners) await documentApi(server);
  measure(server, deps);
  server.get('/healthz', { schema: { hide: true } }, () => ({ ok: true }));
  server.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const silent = { ok: false, reason: 'the database does not answer' };
    if (!deps.presence.isDatabaseAnswering()) return reply.status(503).send(silent);
    return deps.pool.query('SELECT 1').then(
      () => ({ ok: true }),
      () => reply.status(503).send(silent),
    );
  });
  if (deps.updateDoor) await updateRoute(server, deps.updateDoor);
  if (deps.console) await deps.console(server);
  if (servesPartners)
    await server.register(async scope => {
      scope.addHook('onRequest', authorize(deps));
      accountRoutes(scope, deps);
      rateRoutes(scope, deps);
      paymentRoutes(scope, deps);
      eventRoutes(scope, deps);
      statementRoutes(scope, deps);
      testClockRoutes(scope, deps);
    });
  return server;
}

/**
 * What broke on the way in is the request's fault; too many at once, or a database that is away or cannot keep up, is
 * temporary; the rest is ours.
 */
function codeOf(error: unknown): ErrorCode {
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof BatcherFullError) return 'gateway_busy';
  if (isDatabaseFailing(error)) return 'gateway_unavailable';
  return statusCode && statusCode >= 400 && statusCode < 500 ? 'invalid_request' : 'internal_error';
}

/** Of what the server itself refuses, as far as its caller can mend it. */
const reasons: Record<number, { message: string }> = {
  413: { message: `The body is larger than ${bodyLimitBytes / 1024} KiB.` },
  415: { message: 'The Content-Type cannot be read: send application/json.' },
};
const reasonOf = (error: unknown) => reasons[(error as { statusCode?: number }).statusCode ?? 0] ?? {};

/** What is not even HTTP, or comes too slowly, gets an answer of the contract too. */
const clientErrorHandler = (_error: Error, socket: Duplex) => refuseOnSocket(socket);

function refuseOnSocket(socket: Duplex): void {
  if (!socket.writable) return;
  const requestId = newId('req', systemClock);
  const code = 'invalid_request';
  const { message } = allErrors[code];
  const body = JSON.stringify({ error: { code, message, request_id: requestId, ...adviceOf(code) } });
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

export async function listen(server: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Record<string, string> = {
      EADDRINUSE: `PORT ${port} on ${host} is in use: stop the program that has it, or set PORT to another.`,
      EACCES: `PORT ${port} needs more rights than this user has: set PORT above 1023.`,
      EADDRNOTAVAIL: `HOST ${host} is not an address of this machine: correct it.`,
      ENOTFOUND: `HOST ${host} is not an address of this machine: correct it.`,
    };
    throw code && reasons[code] ? new OperatorError(reasons[code]) : error;
  }
}
