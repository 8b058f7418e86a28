import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { digestOf, openStatement, writeStatement } from '../../ledger/index.ts';
import type { ApiDeps } from '../deps.ts';
import { missingField } from '../docs/examples.ts';
import { statement, statementCsv } from '../docs/statement-example.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { readDay } from '../http/instants.ts';
import { createAnswersUnderWay, whileConnected } from '../http/under-way.ts';
import { mode, orNull, partnerId, paymentId, usdt } from '../shared-schemas.ts';

const example = statement.example.value;
const [entryExample, holdExample] = [example.entries[0]!, example.open_holds[0]!];

const balances = (description: string, of: typeof example.opening) =>
  Type.Object(
    {
      topup_usdt: usdt('Negative: total of all top-ups', of.topup_usdt),
      treasury_usdt: usdt('Negative: total granted in test mode', of.treasury_usdt),
      available_usdt: usdt('Available balance', of.available_usdt),
      held_usdt: usdt('On hold for unfinished payments', of.held_usdt),
      settled_usdt: usdt('Spent on succeeded payments', of.settled_usdt),
    },
    { description },
  );

const account = (name: string) =>
  Type.Enum(['topup', 'treasury', 'available', 'held', 'settled'], { examples: [name] });

/** What an entry and an open hold begin with. */
const numbered = ({ entry_no, at }: { entry_no: string; at: string }) => ({
  entry_no: Type.String({ pattern: '^\\d+$', description: 'Sequential number', examples: [entry_no] }),
  at: Type.String({ format: 'date-time', examples: [at] }),
});

const Statement = Type.Object({
  object: Type.Literal('statement'),
  partner_id: partnerId,
  mode,
  day: Type.String({ format: 'date', examples: [example.day] }),
  closed: Type.Boolean({
    description: 'False for today: more entries may follow',
    examples: [example.closed],
  }),
  currency: Type.Literal('USDT'),
  opening: balances('At the start of the day', example.opening),
  entries: Type.Array(
    Type.Object({
      ...numbered(entryExample),
      kind: Type.String({ examples: [entryExample.kind] }),
      from: account(entryExample.from),
      to: account(entryExample.to),
      amount_usdt: usdt('Amount of the entry', entryExample.amount_usdt),
      after: balances('After this entry', entryExample.after),
      payment_id: orNull(paymentId(entryExample.payment_id)),
      reference: orNull(Type.String({ description: 'Reference of a credit' })),
    }),
  ),
  closing: balances('At the end of the day, or now', example.closing),
  open_holds: Type.Array(
    Type.Object({
      ...numbered(holdExample),
      amount_usdt: usdt('Amount on hold', holdExample.amount_usdt),
      payment_id: paymentId(holdExample.payment_id),
    }),
    { description: 'Payments that were unfinished at that time' },
  ),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$', examples: [example.digest] }),
});

const csv = {
  schema: Type.String({ description: 'The same as CSV; the last line is the digest' }),
  examples: statementCsv,
};

export const getStatement = endpoint({
  route: 'GET /v1/statement',
  operationId: 'getStatement',
  tag: 'Optional',
  summary: 'The ledger entries of a UTC day',
  description:
    'Opening balances, every entry with the balances after it, closing balances, and the open holds, for the mode of the key. A day that is over is `closed`: its statement never changes again, byte for byte, so the request id is only in the header. The statement of today ends now and is not closed. A day that has not started: 400 `invalid_request`. A day of test mode whose data was deleted: 404 `not_found`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so `If-None-Match` gets 304.',
  querystring: Type.Object({
    day: Type.String({ description: 'A UTC day', examples: [example.day] }),
    format: Type.Enum(['json', 'csv'], { default: 'json' }),
  }),
  answer: { description: 'The statement', schema: Statement, examples: statement, more: { 'text/csv': csv } },
  errors: ['invalid_request', 'not_found'],
  malformed: missingField('query', 'day'),
  unchanged: 'The statement has not changed',
});

/** A statement reads a whole day, so a partner gets few at a time. */
const maxStatements = 2;
/** Once a statement is being sent it would be cut off, so its pages wait longer for a place than other reads. */
const maxPageWaitMs = 10_000;

const types = { csv: 'text/csv; charset=utf-8', json: 'application/json; charset=utf-8' };

/** An addition to the contract: the ledger entries of a day, for reconciliation. */
export function statementRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const underWay = createAnswersUnderWay();
  serve(server, getStatement, async (request, reply) => {
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
  });
}
