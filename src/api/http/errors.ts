import type { FastifyReply, FastifyRequest } from 'fastify';
import { allErrors, retryAdvice } from '../../base/errors.ts';
import { supportInEnglish } from '../../base/support.ts';

export type ErrorCode = keyof typeof allErrors;

export const jsonType = 'application/json; charset=utf-8';

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

/** The error body of the contract; `extra` are the additional fields of some codes. */
export const errorText = (
  code: ErrorCode,
  request_id: string,
  advice: object = retryAdvice(code),
  extra: object = {},
) => JSON.stringify({ error: { code, message: allErrors[code].message, request_id, ...advice, ...extra } });

export function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  extra: Record<string, string> = {},
): FastifyReply {
  const { status } = allErrors[code];
  request.errorCode = code;
  const advice = request.routeOptions.config?.isOutsideContract ? {} : retryAdvice(code);
  const message = messageOf(request, code);
  return reply
    .status(status)
    .type(jsonType)
    .send(errorText(code, request.id, advice, { message, ...extra }));
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
