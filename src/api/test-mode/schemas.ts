import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { requestId, usdt } from '../shared-schemas.ts';

const ClockRequest = Type.Object(
  { advance_sec: Type.Integer({ minimum: 1, maximum: 604_800, examples: [30] }) },
  { 'x-examples': examples.clockRequest },
);

const TestClock = Type.Object({
  object: Type.Literal('test_clock'),
  advanced_sec: Type.Integer({ description: 'Total time advanced, in seconds', examples: [30] }),
  request_id: requestId,
});

export const getTestClockOperation = {
  operationId: 'getTestClock',
  tags: ['Additions'],
  summary: 'How far your test clock was advanced',
  security: apiKeySecurity,
  response: responses(
    { description: 'The total of all advances', schema: TestClock, examples: examples.readClock },
    ['test_key_required'],
  ),
};

export const advanceTestClockOperation = {
  operationId: 'advanceTestClock',
  tags: ['Additions'],
  summary: 'Advance your test clock',
  description:
    'Shortens all current waits of your test payments: outcomes of unfinished payments (the 30 seconds of .02; the 2 minutes of a review), the backoff before the next webhook attempt, events that are held back. Whatever becomes due happens immediately. A wait that starts later, such as the backoff after the next attempt, has its full length. Times of payments and entries come from the real clock, and live payments are not affected. Test keys only: a live key gets 403 `test_key_required`.',
  security: apiKeySecurity,
  body: ClockRequest,
  response: responses(
    {
      description: 'The total of all advances, this one included',
      schema: TestClock,
      examples: examples.advancedClock,
    },
    ['invalid_request', 'test_key_required'],
    examples.missingField('body', 'advance_sec'),
  ),
};

const deposit = {
  object: 'test_deposit',
  reference: 'top-up-1',
  amount_usdt: '250.000000',
  balance_usdt: '10250.000000',
  request_id: 'req_01m7faz3yge00a3jv9t7f4b1bt',
} as const;

const DepositRequest = Type.Object(
  {
    amount_usdt: Type.String({
      maxLength: 20,
      description: 'From 0.000001 to 1000000, with at most six places',
      examples: ['250'],
    }),
    reference: Type.String({
      pattern: '^[A-Za-z0-9._-]{1,64}$',
      description: 'Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is credited once',
      examples: [deposit.reference],
    }),
  },
  { 'x-examples': examples.only('250 USDT', { amount_usdt: '250', reference: deposit.reference }) },
);

const TestDeposit = Type.Object({
  object: Type.Literal('test_deposit'),
  reference: Type.String({ examples: [deposit.reference] }),
  amount_usdt: usdt('What was credited', deposit.amount_usdt),
  balance_usdt: usdt('The test balance now', deposit.balance_usdt),
  request_id: requestId,
});

export const createTestDepositOperation = {
  operationId: 'createTestDeposit',
  tags: ['Additions'],
  summary: 'Simulate a USDT deposit in test mode',
  description:
    'Credits your test balance immediately; in live mode a deposit follows a transfer on chain. The statement shows the credit with the reference `deposit:test:` and yours. The same reference with the same amount credits nothing more and gets the same answer, with another amount 409 `idempotency_conflict`. At most 100 a day, then 403 `daily_limit_exceeded`. Test keys only: a live key gets 403 `test_key_required`.',
  security: apiKeySecurity,
  body: DepositRequest,
  response: responses(
    {
      description: 'The credit, made now or before',
      schema: TestDeposit,
      examples: examples.only('Credited', deposit),
    },
    ['invalid_request', 'test_key_required', 'daily_limit_exceeded', 'idempotency_conflict'],
    examples.missingField('body', 'reference'),
  ),
};
