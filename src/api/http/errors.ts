import type { FastifyReply, FastifyRequest } from 'fastify';
import { allErrors, retryAdvice } from '../../base/errors.ts';
import { supportInEnglish } from '../../base/support.ts';

export type ErrorCode = keyof typeof allErrors;

/** Messages that lead to support, if it can be reached: what the partner should ask for. */
const asksSupport: Partial<Record<ErrorCode, string>> = {
  partner_suspended: 'Access is suspended. Contact support',
  internal_error: 'Something failed on our side. Report the request_id to support',
};

function messageOf(request: FastifyRequest, code: ErrorCode): string {
  const { message } = allErrors[code];
  const ask = asksSupport[code];
  return ask ? supportInEnglish(request.server.supportUrl, message, ask) : message;
}

/** Sends the error body of the contract; `extra` are the additional fields of some codes. */
export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  extra: Record<string, string> = {},
): FastifyReply {
  const { status } = allErrors[code];
  const message = messageOf(request, code);
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
