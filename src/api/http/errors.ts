import type { FastifyReply, FastifyRequest } from 'fastify';
import { allErrors, retryAdvice } from '../../base/errors.ts';

export type ErrorCode = keyof typeof allErrors;

/** Sends the error body of the contract; `extra` are the additional fields of some codes. */
export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  extra: Record<string, string> = {},
): FastifyReply {
  const { status, message } = allErrors[code];
  request.errorCode = code;
  const advice = request.routeOptions.config?.isOutsideContract ? {} : retryAdvice(code);
  return reply
    .status(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ error: { code, message, request_id: request.id, ...advice, ...extra } }));
}

/** One validation error, in the format of FastAPI, which the contract requires. */
export interface Detail {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export class ShapeError extends Error {
  readonly details: Detail[];
  constructor(details: Detail[]) {
    super(details.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
    this.details = details;
  }
}

export const shapeError = (loc: Detail['loc'], msg: string, type: string) =>
  new ShapeError([{ loc, msg, type }]);
