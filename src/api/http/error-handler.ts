import type { FastifyInstance, FastifyRequest } from 'fastify';
import { allErrors } from '../../base/errors.ts';
import { NoPlaceError } from '../../base/fair-share.ts';
import { BatcherFullError } from '../../db/batching/index.ts';
import { isDatabaseUnavailable } from '../../db/postgres/index.ts';
import type { ApiDeps } from '../deps.ts';
import { type ErrorCode, ShapeError, sendError } from './errors.ts';

/** Turns what a route throws into an answer of the contract. */
export function handleErrors(server: FastifyInstance, log: ApiDeps['log']): void {
  server.setErrorHandler((error, request, reply) => {
    // The body was read to its end, so the connection can stay open.
    if (error instanceof ShapeError)
      return reply.removeHeader('connection').status(422).send({ detail: error.details });
    const code = codeOf(error);
    if (error instanceof NoPlaceError) reply.header('Retry-After', 1);
    if (allErrors[code].status >= 500)
      log.error({ err: error, request_id: request.id, ...traceOf(request) }, 'a request failed');
    return sendError(request, reply, code, messageOf(error, request));
  });
}

const traceOf = ({ span }: FastifyRequest) => (span ? { trace_id: span.context.traceId } : {});

/** Overload and a database that is down or too slow are temporary; other errors without a 4xx status are our bugs. */
function codeOf(error: unknown): ErrorCode {
  const { statusCode } = error as { statusCode?: number };
  if (error instanceof NoPlaceError) return 'rate_limited';
  if (error instanceof BatcherFullError) return 'gateway_busy';
  if (isDatabaseUnavailable(error)) return 'gateway_unavailable';
  return statusCode && statusCode >= 400 && statusCode < 500 ? 'invalid_request' : 'internal_error';
}

/** Messages for what Fastify itself refuses and the caller can correct. */
const messages: Record<number, (request: FastifyRequest) => string> = {
  413: ({ routeOptions }) => `The body is larger than ${routeOptions.bodyLimit / 1024} KiB.`,
  415: () => 'This Content-Type is not supported: send application/json.',
};

function messageOf(error: unknown, request: FastifyRequest): Record<string, string> {
  const message = messages[(error as { statusCode?: number }).statusCode ?? 0]?.(request);
  return message === undefined ? {} : { message };
}
