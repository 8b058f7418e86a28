import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { digestOf, openStatement, writeStatement } from '../../ledger/index.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError } from '../http/errors.ts';
import { readDay } from '../http/instants.ts';
import { createAnswersUnderWay, whileConnected } from '../http/under-way.ts';
import * as schemas from './schemas.ts';

/** A statement reads a whole day, so a partner gets few at a time. */
const maxStatements = 2;
/** Once a statement is being sent it would be cut off, so its pages wait longer for a place than other reads. */
const maxPageWaitMs = 10_000;

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' };

/** An addition to the contract: the ledger entries of a day, for reconciliation. */
export function statementRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const underWay = createAnswersUnderWay();
  server.get<{ Querystring: { day: string; format: 'csv' | 'json' } }>(
    '/v1/statement',
    { schema: schemas.getStatementOperation },
    async (request, reply) => {
      const { format } = request.query;
      const day = readDay(request.query.day, 'day');
      const { partnerId, mode } = request.caller;
      if (!underWay.begin(partnerId, maxStatements, reply))
        return sendError(request, reply.header('Retry-After', 1), 'rate_limited');
      const { reads } = deps;
      const db = whileConnected(reads.of(partnerId), reply);
      const statement = await openStatement(db, deps.clock, { partnerId, mode }, day);
      if (!statement)
        return sendError(request, reply, 'invalid_request', { message: 'That day has not started yet.' });
      if (statement === 'pruned')
        return sendError(request, reply, 'not_found', { message: 'The test data of that day was deleted.' });
      const tag = `"${await digestOf(db, statement)}"`;
      reply.header('ETag', tag).type(types[format]);
      if (request.headers['if-none-match'] === tag) return reply.status(304).send();
      const name = `statement-${partnerId}-${mode}-${statement.day}.${format}`;
      reply.header('Content-Disposition', `attachment; filename="${name}"`);
      const pieces = Readable.from(writeStatement(reads.of(partnerId, maxPageWaitMs), statement, format));
      // The file then ends without its digest, so the reader can detect it.
      pieces.on('error', err =>
        deps.log.error({ err, request_id: request.id }, 'a statement could not be sent completely'),
      );
      return reply.send(pieces);
    },
  );
}
