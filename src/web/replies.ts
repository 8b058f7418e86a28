import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyTypeProvider } from 'fastify';
import Type from 'typebox';
import type { Refusal } from './shapes.ts';

/** The one error answer of the pages' APIs. */
export function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
): FastifyReply {
  const refusal: Refusal = { error: { code, message, request_id: request.id } };
  return reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(refusal));
}

/** A file that is generated while it is sent; after an error it ends early, and the reason is logged. */
export const fileOf = (
  { log }: { log: { error(details: object, message: string): void } },
  { id }: FastifyRequest,
  pieces: AsyncIterable<string>,
) =>
  Readable.from(pieces).on('error', err =>
    log.error({ err, request_id: id }, 'a file could not be sent completely'),
  );

export const done = { outcome: 'done' } as const;

export const unsearchable = 'A filter is not valid: check the filters.';

/** Route handlers get the static types of their schemas: `typed(scope).post('/x', { schema: { body: … } }, …)`. */
interface FromSchemas extends FastifyTypeProvider {
  validator: this['schema'] extends Type.TSchema ? Type.Static<this['schema']> : unknown;
  serializer: unknown;
}
export const typed = (scope: FastifyInstance) => scope.withTypeProvider<FromSchemas>();
export type Routes = ReturnType<typeof typed>;

/** A body with exactly these fields: a misspelled one is an error. */
export const Body = <Fields extends Type.TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

/** The query string of lists: how many rows, and after which cursor. */
export const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(Type.String({ maxLength: 500 })),
};

/** Of a webhook endpoint, which the partner or support has entered. */
export const refuseAddress = (request: FastifyRequest, reply: FastifyReply) =>
  refuse(
    request,
    reply,
    400,
    'bad_address',
    'The address must begin with https:// and be reachable from the internet.',
  );
