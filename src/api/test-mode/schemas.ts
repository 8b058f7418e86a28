import Type from 'typebox';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { requestId } from '../shared-schemas.ts';

const ClockRequest = Type.Object({
  advance_sec: Type.Integer({ minimum: 1, maximum: 604_800, examples: [30] }),
});

const TestClock = Type.Object({
  object: Type.Literal('test_clock'),
  advanced_sec: Type.Integer({ description: 'By how much it was moved, all in all', examples: [30] }),
  request_id: requestId,
});

export const getTestClockOperation = {
  operationId: 'getTestClock',
  tags: ['Additions'],
  summary: 'By how much your test clock was moved',
  security: apiKeySecurity,
  response: responses(TestClock, ['test_key_required']),
};

export const advanceTestClockOperation = {
  operationId: 'advanceTestClock',
  tags: ['Additions'],
  summary: 'Shorten what waits in test mode',
  description:
    'Everything that waits for you in test mode waits for so much less: outcomes of unfinished payments (the 30 seconds of ,02; the 2 minutes of a review), pauses before the next attempt at a webhook, events that are held back. What is due by that happens at once. It moves the waits that there are: one that begins later, such as the pause after the next attempt, begins anew. Times of payments and entries stay those of the real clock, and live payments know nothing of it. Test keys only: a live key gets 403 `test_key_required`.',
  security: apiKeySecurity,
  body: ClockRequest,
  response: responses(TestClock, ['invalid_request', 'test_key_required']),
};
