import Type from 'typebox';
import { missingField } from '../docs/examples.ts';
import { statement, statementCsv } from '../docs/statement-example.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
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

const StatementQuery = Type.Object({
  day: Type.String({ description: 'A UTC day', examples: [example.day] }),
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
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
    ...responses(
      { description: 'The statement', schema: Statement, examples: statement },
      ['invalid_request', 'not_found'],
      missingField('query', 'day'),
    ),
    200: {
      description: 'The statement',
      content: {
        'application/json': { schema: Statement, examples: statement },
        'text/csv': { schema: StatementCsv, examples: statementCsv },
      },
    },
    304: Unchanged,
  },
};
