import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { mode, orNull, partnerId, paymentId, usdt } from '../shared-schemas.ts';

const books = (description: string) =>
  Type.Object(
    {
      topup_usdt: usdt('With a minus: what was paid in'),
      treasury_usdt: usdt('With a minus: what the house gave'),
      available_usdt: usdt('What could be spent'),
      held_usdt: usdt('Debited for payments without an end'),
      settled_usdt: usdt('Spent'),
    },
    { description },
  );

const account = Type.Enum(['topup', 'treasury', 'available', 'held', 'settled']);

const entryNo = Type.String({ pattern: '^\\d+$', description: 'Counts without gaps', examples: ['17'] });

const at = Type.String({ format: 'date-time', examples: ['2026-11-15T10:00:00.123Z'] });

const StatementQuery = Type.Object({
  day: Type.String({ description: 'A UTC day', examples: ['2026-11-15'] }),
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
});

const Statement = Type.Object({
  object: Type.Literal('statement'),
  partner_id: partnerId,
  mode,
  day: Type.String({ format: 'date', examples: ['2026-11-15'] }),
  closed: Type.Boolean({ description: 'False for today: there may be more to come' }),
  currency: Type.Literal('USDT'),
  opening: books('At the beginning of the day'),
  entries: Type.Array(
    Type.Object({
      entry_no: entryNo,
      at,
      kind: Type.String({ examples: ['hold'] }),
      from: account,
      to: account,
      amount_usdt: usdt('What was moved'),
      after: books('After this entry'),
      payment_id: orNull(paymentId),
      reference: orNull(Type.String({ description: 'Of a credit' })),
    }),
  ),
  closing: books('At the end of the day, or so far'),
  open_holds: Type.Array(
    Type.Object({ entry_no: entryNo, at, amount_usdt: usdt('Held'), payment_id: paymentId }),
    { description: 'Payments that had no end then' },
  ),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
});

const StatementCsv = Type.String({ description: 'The same as lines; the last one is the digest' });

const Unchanged = Type.Null({ description: 'You have it already' });

export const getStatementOperation = {
  operationId: 'getStatement',
  tags: ['Additions'],
  summary: 'The books of a UTC day',
  description:
    'Opening balances, every entry with the balances after it, closing balances, and what was still held then, for the mode of the key. A day that is over is `closed`: from then on its statement is the same for ever, byte for byte; so the id of the request stands only in the header. Today is shown so far and is not closed. A day that has not begun: 400 `invalid_request`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so that `If-None-Match` answers 304.',
  security: apiKeySecurity,
  querystring: StatementQuery,
  response: {
    ...responses(Statement, ['invalid_request']),
    200: {
      description: 'The statement',
      content: { 'application/json': { schema: Statement }, 'text/csv': { schema: StatementCsv } },
    },
    304: Unchanged,
  },
};
