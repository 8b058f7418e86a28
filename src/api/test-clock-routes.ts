import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readTestClock } from '../payments/index.ts';
import { moveTestClock } from '../webhooks/index.ts';
import * as schemas from './addition-schemas.ts';
import type { ApiDeps } from './deps.ts';
import { sendError } from './errors.ts';
import { responses } from './responses.ts';

const security = [{ apiKey: [] }];

/** Before the body is read: to a live key there is nothing to be said about it. */
const onlyTestKeys = async (request: FastifyRequest, reply: FastifyReply) =>
  request.caller.mode === 'test' ? undefined : sendError(request, reply, 'test_key_required');

/** An addition to the contract: whoever tests need not wait. */
export function testClockRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const describe = (request: FastifyRequest, advancedSec: number) => ({
    object: 'test_clock',
    advanced_sec: advancedSec,
    request_id: request.id,
  });

  server.get(
    '/v1/test/clock',
    {
      onRequest: onlyTestKeys,
      schema: {
        operationId: 'getTestClock',
        tags: ['Additions'],
        summary: 'By how much your test clock was moved',
        security,
        response: responses(schemas.TestClock, ['test_key_required']),
      },
    },
    async request => describe(request, await readTestClock(deps.db, request.caller.partnerId)),
  );

  server.post<{ Body: { advance_sec: number } }>(
    '/v1/test/clock',
    {
      onRequest: onlyTestKeys,
      schema: {
        operationId: 'advanceTestClock',
        tags: ['Additions'],
        summary: 'Shorten what waits in test mode',
        description:
          'Everything that waits for you in test mode waits for so much less: outcomes of unfinished payments (the 30 seconds of ,02; the 2 minutes of a review), pauses before the next attempt at a webhook, events that are held back. What is due by that happens at once. It moves the waits that there are: one that begins later, such as the pause after the next attempt, begins anew. Times of payments and entries stay those of the real clock, and live payments know nothing of it. Test keys only: a live key gets 403 `test_key_required`.',
        security,
        body: schemas.ClockRequest,
        response: responses(schemas.TestClock, ['invalid_request', 'test_key_required']),
      },
    },
    async request => {
      const { partnerId } = request.caller;
      const sumSec = await moveTestClock(deps.pool, deps.clock, partnerId, request.body.advance_sec);
      deps.onTestClockMoved?.();
      return describe(request, sumSec);
    },
  );
}
