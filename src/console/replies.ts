import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyTypeProvider } from 'fastify';
import Type from 'typebox';
import type { AuditContext } from '../db/audit.ts';
import type { ConsoleDeps } from './deps.ts';
import type { Refusal } from './shapes/common.ts';

/** A refusal as pages expect it; answers that go well are returned as they are. */
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

/** For the audit: who did it is whoever has signed in. */
export const auditContextOf = ({ pool, clock }: ConsoleDeps, { operator }: FastifyRequest): AuditContext => ({
  pool,
  clock,
  actor: `operator:${operator.name}`,
});

/** A file that is written while it is sent; if that fails it breaks off, and the log says why. */
export const fileOf = ({ log }: ConsoleDeps, { id }: FastifyRequest, pieces: AsyncIterable<string>) =>
  Readable.from(pieces).on('error', err => log.error({ err, request_id: id }, 'a file broke off'));

export const done = { outcome: 'done' } as const;

/** What a schema lets through is what a route's function gets: `typed(scope).post('/x', { schema: { body: … } }, …)`. */
interface FromSchemas extends FastifyTypeProvider {
  validator: this['schema'] extends Type.TSchema ? Type.Static<this['schema']> : unknown;
  serializer: unknown;
}
export const typed = (scope: FastifyInstance) => scope.withTypeProvider<FromSchemas>();

/** Bodies have the fields that are named and no others, so that a slip of the pen is noticed. */
export const Body = <Fields extends Type.TProperties>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

/** Of lists: how many, and after which. */
export const paging = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(Type.String({ maxLength: 500 })),
};
