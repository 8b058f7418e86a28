/** The shapes of what was added to the contract. */
import Type from 'typebox';
import { mode, orNull, partnerId, paymentId, requestId, usdt } from './schemas.ts';

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

export const StatementQuery = Type.Object({
  day: Type.String({ description: 'A UTC day', examples: ['2026-11-15'] }),
  format: Type.Enum(['json', 'csv'], { default: 'json' }),
});

export const Statement = Type.Object({
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

export const StatementCsv = Type.String({ description: 'The same as lines; the last one is the digest' });
export const Unchanged = Type.Null({ description: 'You have it already' });

export const ClockRequest = Type.Object({
  advance_sec: Type.Integer({ minimum: 1, maximum: 604_800, examples: [30] }),
});

export const TestClock = Type.Object({
  object: Type.Literal('test_clock'),
  advanced_sec: Type.Integer({ description: 'By how much it was moved, all in all', examples: [30] }),
  request_id: requestId,
});
