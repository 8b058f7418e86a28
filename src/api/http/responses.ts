import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { allErrors, retryAdvice } from '../../base/errors.ts';
import type { ErrorCode } from './errors.ts';

/** What OpenAPI calls a security requirement: the partner's key. */
export const apiKeySecurity = [{ apiKey: [] }];

/** Every endpoint can answer with these. */
const commonErrors: ErrorCode[] = [
  'unauthorized',
  'partner_suspended',
  'ip_not_allowed',
  'rate_limited',
  'internal_error',
  'gateway_unavailable',
];

const exampleRequestId = 'req_01m7ehqr39e00aq7xw60wbe32j';

function exampleOf(code: ErrorCode) {
  const extra =
    code === 'insufficient_balance' ? { required_usdt: '1.081082', balance_usdt: '0.500000' } : {};
  const { message } = allErrors[code];
  const error = { code, message, request_id: exampleRequestId, ...retryAdvice(code), ...extra };
  return { summary: message, value: { error } };
}

const validationExample = {
  summary: 'The request is malformed',
  value: { detail: [{ loc: ['body', 'amount_rub'], msg: 'Field required', type: 'missing' }] },
};

/** The responses of an operation for OpenAPI: its own shape, and each of its errors with an example, by status. */
export function responses(success: Type.TSchema, codes: ErrorCode[]) {
  const byStatus = Map.groupBy(new Set([...codes, ...commonErrors]), code => allErrors[code].status);
  const entries = Array.from(byStatus, ([status, group]) => [status, errorResponse(status, group)] as const);
  if (!byStatus.has(422)) entries.push([422, errorResponse(422, [])]);
  return { 200: success, ...Object.fromEntries(entries) };
}

function errorResponse(status: number, codes: ErrorCode[]) {
  const examples: Record<string, unknown> = Object.fromEntries(codes.map(code => [code, exampleOf(code)]));
  const malformed = status === 422;
  const shapes = [
    ...(codes.length > 0 ? [Type.Ref('Error')] : []),
    ...(malformed ? [Type.Ref('ValidationError')] : []),
  ];
  if (malformed) examples.malformed = validationExample;
  return {
    description: [...codes.map(code => `\`${code}\``), ...(malformed ? ['malformed request'] : [])].join(
      ', ',
    ),
    content: {
      'application/json': { schema: shapes.length === 1 ? shapes[0] : Type.Union(shapes), examples },
    },
  };
}

/** Sends JSON that is text already: payments are stored with the partner's metadata exactly as it came. */
export const sendJsonText = (reply: FastifyReply, json: string) =>
  reply.type('application/json; charset=utf-8').send(json);
