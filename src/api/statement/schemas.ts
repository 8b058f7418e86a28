import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { mode, orNull, partnerId, paymentId, usdt } from '../shared-schemas.ts';

const balances = (description: string) =>
  Type.Object(
    {
      topup_usdt: usdt('Negative: total of all top-ups'),
      treasury_usdt: usdt('Negative: total granted in test mode'),
      available_usdt: usdt('Available balance'),
      held_usdt: usdt('On hold for unfinished payments'),
      settled_usdt: usdt('Spent on succeeded payments'),
    },
    { description },
  );

const account = Type.Enum(['topup', 'treasury', 'available', 'held', 'settled']);

const entryNo = Type.String({ pattern: '^\\d+$', description: 'Sequential number', examples: ['17'] });

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
  opening: balances('At the start of the day'),
  entries: Type.Array(
    Type.Object({
      entry_no: entryNo,
      at,
      kind: Type.String({ examples: ['hold'] }),
      from: account,
      to: account,
      amount_usdt: usdt('Amount of the entry'),
      after: balances('After this entry'),
      payment_id: orNull(paymentId),
      reference: orNull(Type.String({ description: 'Reference of a credit' })),
    }),
  ),
  closing: balances('At the end of the day, or now'),
  open_holds: Type.Array(
    Type.Object({ entry_no: entryNo, at, amount_usdt: usdt('Amount on hold'), payment_id: paymentId }),
    { description: 'Payments that were unfinished at that time' },
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
    'Opening balances, every entry with the balances after it, closing balances, and the open holds, for the mode of the key. A day that is over is `closed`: its statement never changes again, byte for byte, so the request id is only in the header. The statement of today ends now and is not closed. A day that has not started: 400 `invalid_request`. A day of test mode whose data was deleted: 404 `not_found`. The digest is SHA-256 over the CSV form without its last line; both forms end with it, and `ETag` carries it, so `If-None-Match` gets 304.',
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
