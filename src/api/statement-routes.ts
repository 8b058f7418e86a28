import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { digestOf, openStatement, writeStatement } from '../ledger/index.ts';
import * as schemas from './addition-schemas.ts';
import type { ApiDeps } from './deps.ts';
import { sendError } from './errors.ts';
import { responses } from './responses.ts';
import { readDay } from './times.ts';

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' };

/** An addition to the contract: the books of a day, for whoever reconciles. */
export function statementRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.get<{ Querystring: { day: string; format: 'csv' | 'json' } }>(
    '/v1/statement',
    {
      schema: {
        operationId: 'getStatement',
        tags: ['Additions'],
        summary: 'The books of a UTC day',
        description:
          'Opening balances, every entry with the balances after it, closing balances, and what was still held then, for the mode of the key. A day that is over is `closed`: from then on its statement is the same for ever, byte for byte; so the id of the request stands only in the header. Today is shown so far and is not closed. A day that has not begun: 400 `invalid_request`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so that `If-None-Match` answers 304.',
        security: [{ apiKey: [] }],
        querystring: schemas.StatementQuery,
        response: {
          ...responses(schemas.Statement, ['invalid_request']),
          200: {
            description: 'The statement',
            content: {
              'application/json': { schema: schemas.Statement },
              'text/csv': { schema: schemas.StatementCsv },
            },
          },
          304: schemas.Unchanged,
        },
      },
    },
    async (request, reply) => {
      const { format } = request.query;
      const day = readDay(request.query.day, 'day');
      const { partnerId, mode } = request.caller;
      const statement = await openStatement(deps.db, deps.clock, { partnerId, mode }, day);
      if (!statement)
        return sendError(request, reply, 'invalid_request', { message: 'That day has not begun yet.' });
      const tag = `"${await digestOf(deps.db, statement)}"`;
      reply.header('ETag', tag).type(types[format]);
      if (request.headers['if-none-match'] === tag) return reply.status(304).send();
      const name = `statement-${partnerId}-${mode}-${statement.day}.${format}`;
      reply.header('Content-Disposition', `attachment; filename="${name}"`);
      const pieces = Readable.from(writeStatement(deps.db, statement, format));
      // It breaks off without its digest, and whoever reads it can see that.
      pieces.on('error', err => deps.log.error({ err, request_id: request.id }, 'a statement broke off'));
      return reply.send(pieces);
    },
  );
}
