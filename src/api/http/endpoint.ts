import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteShorthandOptions,
} from 'fastify';
import Type from 'typebox';
import { allErrors, retryAdvice } from '../../base/errors.ts';
import { insufficientBalance } from '../docs/examples.ts';
import { type Detail, type ErrorCode, jsonType } from './errors.ts';

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

type Schema = Type.TSchema;

interface Content {
  schema: Schema;
  examples?: Record<string, Example>;
}

interface Documented extends Content {
  description: string;
  /** By their types, besides JSON. */
  more?: Record<string, Content>;
}

/** An endpoint of the partner API: its route, what the validator checks, and its entry in the OpenAPI document. */
interface Endpoint<Body extends Schema, Query extends Schema, Params extends Schema> {
  route: `${'GET' | 'POST'} /v1/${string}`;
  operationId: string;
  tag: 'Account' | 'Rates' | 'Payments' | 'Optional';
  summary: string;
  description?: string;
  config?: FastifyContextConfig;
  hooks?: Pick<RouteShorthandOptions, 'onRequest' | 'onResponse'>;
  params?: Params;
  querystring?: Query;
  body?: Body;
  /** Not for the validator: the route checks them itself. */
  documentedHeaders?: Schema;
  answer: Documented;
  /** What 304 means, where there can be one. */
  unchanged?: string;
  /** Besides those of every endpoint. */
  errors?: ErrorCode[];
  /** What a malformed request gets, where there is something to send. */
  malformed?: Detail;
}

/** Keeps the types of the parts, so that requests get theirs. */
export const endpoint = <Body extends Schema, Query extends Schema, Params extends Schema>(
  declared: Endpoint<Body, Query, Params>,
) => declared;

export function serve<Body extends Schema, Query extends Schema, Params extends Schema>(
  server: FastifyInstance,
  declared: Endpoint<Body, Query, Params>,
  handler: (
    request: FastifyRequest<{
      Body: Type.Static<Body>;
      Querystring: Type.Static<Query>;
      Params: Type.Static<Params>;
    }>,
    reply: FastifyReply,
  ) => unknown,
): void {
  const { route, tag, config = {}, hooks, answer, unchanged, errors = [], malformed, ...schema } = declared;
  const [method, url] = route.split(' ') as ['GET' | 'POST', string];
  const codes = new Set([...errors, ...commonErrors]);
  if (config.scope === 'any') codes.delete('insufficient_scope');
  server.route({
    method,
    url,
    config,
    schema: {
      ...schema,
      tags: [tag],
      security: [{ apiKey: [] }],
      response: {
        200: response(answer),
        ...refusals(codes, malformed),
        ...(unchanged === undefined ? {} : { 304: Type.Null({ description: unchanged }) }),
      },
    },
    handler: handler as never,
    ...hooks,
  });
}

/** The errors for OpenAPI by status, each with an example. */
function refusals(codes: Set<ErrorCode>, malformed: Detail | undefined) {
  const byStatus = Map.groupBy(codes, code => allErrors[code].status);
  const of422 = byStatus.get(422) ?? [];
  byStatus.delete(422);
  const groups = Array.from(byStatus, ([status, group]) => [
    status,
    response({
      description: group.map(quoted).join(', '),
      schema: Type.Ref('Error'),
      examples: examplesOf(group),
    }),
  ]);
  return { ...Object.fromEntries(groups), 422: malformedResponse(of422, malformed) };
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

const response = ({ description, more, ...json }: Documented) => ({
  description,
  content: { 'application/json': json, ...more },
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
export const sendJsonText = (reply: FastifyReply, json: string) => reply.type(jsonType).send(json);

/** Sends a page of such objects, with the other fields of the answer after them. */
export const sendJsonList = (reply: FastifyReply, objects: string[], rest: object) =>
  sendJsonText(reply, `{"data":[${objects.join(',')}],${JSON.stringify(rest).slice(1)}`);
