import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { mode, orNull, partnerId, paymentId, usdt } from '../shared-schemas.ts';

const balances = (description: string) =>
  Type.Object(
    {
      topup_usdt: usdt('Negative: what was paid in'),
      treasury_usdt: usdt('Negative: what was granted in test mode'),
      available_usdt: usdt('What could be spent'),
      held_usdt: usdt('Debited for unfinished payments'),
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
  closed: Type.Boolean({ description: 'False for today: more entries may follow' }),
  currency: Type.Literal('USDT'),
  opening: balances('At the beginning of the day'),
  entries: Type.Array(
    Type.Object({
      entry_no: entryNo,
      at,
      kind: Type.String({ examples: ['hold'] }),
      from: account,
      to: account,
      amount_usdt: usdt('What was moved'),
      after: balances('After this entry'),
      payment_id: orNull(paymentId),
      reference: orNull(Type.String({ description: 'Of a credit' })),
    }),
  ),
  closing: balances('At the end of the day, or so far'),
  open_holds: Type.Array(
    Type.Object({ entry_no: entryNo, at, amount_usdt: usdt('Held'), payment_id: paymentId }),
    { description: 'Payments that were unfinished then' },
  ),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
});

const StatementCsv = Type.String({ description: 'The same as CSV; the last line is the digest' });

const Unchanged = Type.Null({ description: 'The statement has not changed' });

export const getStatementOperation = {
  operationId: 'getStatement',
  tags: ['Additions'],
  summary: 'The ledger entries of a UTC day',
  description:
    'Opening balances, every entry with the balances after it, closing balances, and the open holds, for the mode of the key. A day that is over is `closed`: its statement never changes again, not by a byte, so the request id is only in the header. The statement of today ends now and is not closed. A day that has not begun: 400 `invalid_request`. A day of test mode whose data was deleted: 404 `not_found`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so `If-None-Match` gets 304.',
  security: apiKeySecurity,
  querystring: StatementQuery,
  response: {
    ...responses(Statement, ['invalid_request', 'not_found']),
    200: {
      description: 'The statement',
      content: { 'application/json': { schema: Statement }, 'text/csv': { schema: StatementCsv } },
    },
    304: Unchanged,
  },
};
