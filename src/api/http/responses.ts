import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { allErrors, retryAdvice } from '../../base/errors.ts';
import { insufficientBalance } from '../docs/examples.ts';
import type { Detail, ErrorCode } from './errors.ts';

/** What OpenAPI calls a security requirement: the partner's key. */
export const apiKeySecurity = [{ apiKey: [] }];

/** Every endpoint can answer with these; only a key check needs no scope. */
const commonErrors: ErrorCode[] = [
  'unauthorized',
  'partner_suspended',
  'ip_not_allowed',
  'insufficient_scope',
  'rate_limited',
  'internal_error',
  'gateway_unavailable',
];

interface Example {
  summary: string;
  value: unknown;
}

interface Documented {
  description: string;
  schema: Type.TSchema;
  examples?: Record<string, Example>;
}

/**
 * The responses of an operation for OpenAPI: its own shape, and each of its errors with an example, by status.
 * `malformed` is what a malformed request gets, where there is something to send.
 */
export function responses(success: Documented, codes: ErrorCode[], malformed?: Detail, needsScope = true) {
  const all = new Set([...codes, ...commonErrors]);
  if (!needsScope) all.delete('insufficient_scope');
  const byStatus = Map.groupBy(all, code => allErrors[code].status);
  const refused = byStatus.get(422) ?? [];
  byStatus.delete(422);
  return {
    200: response(success),
    ...Object.fromEntries(
      Array.from(byStatus, ([status, group]) => [
        status,
        response({
          description: group.map(quoted).join(', '),
          schema: Type.Ref('Error'),
          examples: examplesOf(group),
        }),
      ]),
    ),
    422: malformedResponse(refused, malformed),
  };
}

function malformedResponse(codes: ErrorCode[], malformed: Detail | undefined) {
  const shapes = [...(codes.length > 0 ? [Type.Ref('Error')] : []), Type.Ref('ValidationError')];
  const example = malformed && {
    malformed: { summary: 'The request is malformed', value: { detail: [malformed] } },
  };
  return response({
    description: [...codes.map(quoted), 'malformed request'].join(', '),
    schema: shapes.length === 1 ? shapes[0]! : Type.Union(shapes),
    ...(example || codes.length > 0 ? { examples: { ...examplesOf(codes), ...example } } : {}),
  });
}

const response = ({ description, ...json }: Documented) => ({
  description,
  content: { 'application/json': json },
});

const quoted = (code: ErrorCode) => `\`${code}\``;
const examplesOf = (codes: ErrorCode[]) => Object.fromEntries(codes.map(code => [code, exampleOf(code)]));

function exampleOf(code: ErrorCode): Example {
  const { message } = allErrors[code];
  const { request_id } = insufficientBalance;
  const error =
    code === 'insufficient_balance'
      ? insufficientBalance
      : { code, message, request_id, ...retryAdvice(code) };
  return { summary: message, value: { error } };
}

/** Sends JSON that is text already: payments are stored with the partner's metadata exactly as it came. */
export const sendJsonText = (reply: FastifyReply, json: string) =>
  reply.type('application/json; charset=utf-8').send(json);
