import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { allErrors } from '../../base/errors.ts';
import { type Id, newId } from '../../base/ids.ts';
import { networkOf } from '../../operators/index.ts';
import type { RequestLog } from '../../request-log/index.ts';
import type { ApiDeps } from '../deps.ts';
import { maxBodyBytes } from './body.ts';
import { limitConnections, type Shed } from './connections.ts';
import { errorText, jsonType, sendError } from './errors.ts';
import { pageHeaders } from './page-headers.ts';

type FastifyDeps = Pick<ApiDeps, 'clock' | 'trustProxy' | 'connectionLimits' | 'draining' | 'requestLog'>;

/** A Fastify server whose every answer, also to what is not valid HTTP, has the contract's error body and a request id. */
export function createFastify(deps: FastifyDeps, shed?: Shed): FastifyInstance {
  const { clock, trustProxy, draining, requestLog } = deps;
  const server = Fastify({
    bodyLimit: maxBodyBytes,
    // No limit: by default a start fails where making the routes takes 10 s, as on a machine that is busy.
    pluginTimeout: 0,
    exposeHeadRoutes: false,
    // Fastify's own 503 has no error code of the contract; ours is in `refuseEarly`.
    return503OnClosing: false,
    genReqId: () => newId('req', clock),
    // An error of the next request must not look like the answer to this one, which may be a payment.
    clientErrorHandler: (_error: Error, socket: Socket) =>
      hasUnanswered(socket) ? socket.destroy() : refuseOnSocket(socket, deps),
    // A URL that cannot be decoded, or is longer than any id, does not exist. No hook sees its request.
    frameworkErrors: (_error, request, reply) => {
      sendError(
        request as FastifyRequest,
        reply.header('X-Request-Id', request.id).headers(defaultHeaders) as FastifyReply,
        'not_found',
      );
      if (requestLog) logRequest(requestLog, request as FastifyRequest, reply as FastifyReply);
    },
    // Otherwise Node answers by itself, without a request id.
    http: { requireHostHeader: false },
    ...(trustProxy.length > 0 ? { trustProxy } : {}),
  });
  // By default Node answers an unknown `Expect` without a request id, and CONNECT not at all.
  server.server.on('checkExpectation', (request, response) =>
    server.server.emit('request', request, response),
  );
  server.server.on('connect', (_request, socket) => refuseOnSocket(socket, deps));
  const { hasUnanswered, isClosing, stallTimeoutMs } = limitConnections(server, deps, shed);
  refuseEarly(server, isClosing);
  server.addHook('onSend', (request, reply, payload, done) => {
    // From here on nothing but the caller can delay the answer. Progress counts: Node restarts the time-out with it. When
    // the answer is complete, Node sets the time-out of an idle connection.
    request.raw.socket.setTimeout(stallTimeoutMs);
    if (draining?.aborted) reply.header('Connection', 'close');
    if (reply.statusCode === 503 && !reply.hasHeader('Retry-After'))
      reply.header('Retry-After', retryAfterSec);
    // When the answer is handed over, not when it has arrived: the caller may have left before.
    if (requestLog) logRequest(requestLog, request, reply, payload);
    done(null, payload);
  });
  return server;
}

/** Pages replace them by their own. */
export const defaultHeaders = pageHeaders([]);

/** As the contract begins: 2 seconds, then twice as long. */
const retryAfterSec = 2;

/** Answers before the body is read: during shutdown, to an ambiguous Host, and for a URL that does not exist. */
function refuseEarly(server: FastifyInstance, isClosing: () => boolean): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id).headers(defaultHeaders);
    if (isClosing()) sendError(request, reply.header('Connection', 'close'), 'gateway_unavailable');
    else if (!hasClearHost(request))
      sendError(request, reply.header('Connection', 'close'), 'invalid_request', {
        message: 'The header Host must occur once and be the host of the URL.',
      });
    else if (request.is404) sendError(request, reply, 'not_found');
    else done();
  });
  server.setNotFoundHandler((request, reply) => sendError(request, reply, 'not_found'));
}

/**
 * A proxy in front may have taken another host than Node, for its routes and rules: the second one, or the one of a
 * target such as `http://x/v1/ping` (RFC 9112, 3.2). HTTP/1.0 needs none.
 */
function hasClearHost({ raw: { rawHeaders, httpVersion, url = '' } }: FastifyRequest): boolean {
  const hosts = rawHeaders.filter(
    (_text, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1,
  );
  if (hosts.length !== 1) return hosts.length === 0 && httpVersion === '1.0';
  if (url.startsWith('/') || url === '*') return true;
  if (!URL.canParse(url)) return false;
  const { protocol, host: target } = new URL(url);
  const named = `${protocol}//${hosts[0]}`;
  return URL.canParse(named) && new URL(named).host === target;
}

/** The caller has this long to read a refusal; one that keeps its end open would keep the connection. */
const closeAfterMs = 1_000;

/** For requests that never reach Fastify: malformed HTTP, too slow ones, CONNECT. */
function refuseOnSocket(socket: Duplex, { clock, requestLog }: FastifyDeps): void {
  if (!socket.writable) return void socket.destroy();
  clock.timer(closeAfterMs, () => socket.destroy());
  const requestId = newId('req', clock);
  const code = 'invalid_request';
  const { status } = allErrors[code];
  requestLog?.record({ requestId, isAdmitted: false, status, errorCode: code, durationMs: 0 });
  const body = errorText(code, requestId);
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      `Content-Type: ${jsonType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Health checks, pages and the updates of Telegram are not logged. */
const isOfPartner = (routeOrUrl: string) => routeOrUrl.startsWith('/v1/');

/** It runs for every request, so it only keeps what it has at hand. */
export function logRequest(
  log: RequestLog,
  request: FastifyRequest,
  reply: FastifyReply,
  payload?: unknown,
): void {
  const route = request.routeOptions.url;
  if (!isOfPartner(route ?? request.url)) return;
  const { payment_id: asked } = (request.params ?? {}) as { payment_id?: string };
  const { statusCode: status } = reply;
  log.record({
    requestId: request.id as Id<'req'>,
    keyHolder: request.keyHolder,
    isAdmitted: request.isAdmitted === true,
    network: status >= 500 ? networkOf(request.ip) : undefined,
    method: request.method,
    route,
    url: route === undefined ? request.url : undefined,
    paymentId: request.paymentId ?? asked,
    status,
    errorCode: request.errorCode,
    durationMs: reply.elapsedTime,
    bodies: request.keyHolder?.logsBodies
      ? { sent: request.sentBody, answered: typeof payload === 'string' ? payload : undefined }
      : undefined,
  });
}
