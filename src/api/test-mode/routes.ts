import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readTestClock } from '../../payments/index.ts';
import { moveTestClock } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError } from '../http/errors.ts';
import * as schemas from './schemas.ts';

/** Checked before the body is validated: a live key gets the same answer for every body. */
const onlyTestKeys = async (request: FastifyRequest, reply: FastifyReply) =>
  request.caller.mode === 'test' ? undefined : sendError(request, reply, 'test_key_required');

/** An addition to the contract: the test clock, so that tests need not wait. */
export function testClockRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const describe = (request: FastifyRequest, advancedSec: number) => ({
    object: 'test_clock',
    advanced_sec: advancedSec,
    request_id: request.id,
  });

  server.get(
    '/v1/test/clock',
    { onRequest: onlyTestKeys, schema: schemas.getTestClockOperation },
    async request =>
      describe(
        request,
        await readTestClock(deps.reads.of(request.caller.partnerId), request.caller.partnerId),
      ),
  );

  server.post<{ Body: { advance_sec: number } }>(
    '/v1/test/clock',
    { onRequest: onlyTestKeys, schema: schemas.advanceTestClockOperation },
    async request => {
      const { partnerId } = request.caller;
      // Moves of one partner wait for each other, so they take its places and no others.
      const sumSec = await deps.reads.run(partnerId, pool =>
        moveTestClock(pool, deps.clock, partnerId, request.body.advance_sec),
      );
      deps.signals.testClockMoved.emit();
      return describe(request, sumSec);
    },
  );
}
