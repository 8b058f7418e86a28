import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { requestId } from '../shared-schemas.ts';

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
