import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatMicroUsdt, parseMicroUsdt } from '../../base/money.ts';
import { creditTestDeposit } from '../../deposits/index.ts';
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
    async request => {
      const { partnerId } = request.caller;
      const { reads } = deps;
      return describe(request, await readTestClock(reads.of(partnerId), partnerId));
    },
  );

  server.post<{ Body: { advance_sec: number } }>(
    '/v1/test/clock',
    { config: { scope: 'pay' }, onRequest: onlyTestKeys, schema: schemas.advanceTestClockOperation },
    async request => {
      const { partnerId } = request.caller;
      // Moves of one partner wait for each other, so they take its places and no others.
      const { reads, signals } = deps;
      const sumSec = await reads.run(partnerId, pool =>
        moveTestClock(pool, deps.clock, partnerId, request.body.advance_sec),
      );
      signals.testClockMoved.emit();
      return describe(request, sumSec);
    },
  );
}

/** More than any test needs, and sums of it stay far from what the ledger can hold. */
const maxTestDeposit = 1_000_000_000_000n;

/** An addition to the contract: a simulated deposit, so that tests need no chain. */
export function testDepositRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.post<{ Body: { amount_usdt: string; reference: string } }>(
    '/v1/test/deposits',
    { config: { scope: 'pay' }, onRequest: onlyTestKeys, schema: schemas.createTestDepositOperation },
    async (request, reply) => {
      const { partnerId } = request.caller;
      const { amount_usdt, reference } = request.body;
      const microUsdt = parseMicroUsdt(amount_usdt);
      if (microUsdt === undefined || microUsdt <= 0n || microUsdt > maxTestDeposit)
        return sendError(request, reply, 'invalid_request', {
          message: 'amount_usdt must be from 0.000001 to 1000000, with at most six places.',
        });
      // Deposits of one partner wait for each other, so they take its places and no others.
      const { reads } = deps;
      const result = await reads.run(partnerId, pool =>
        creditTestDeposit(pool, deps.clock, { partnerId, microUsdt, reference }),
      );
      switch (result.outcome) {
        case 'too_many':
          return sendError(request, reply, 'daily_limit_exceeded', {
            message: 'At most 100 test deposits are possible on one day (UTC).',
          });
        case 'conflict':
          return sendError(request, reply, 'idempotency_conflict', {
            message: 'This reference belongs to a test deposit of another amount; use a new one.',
          });
        case 'credited':
          return {
            object: 'test_deposit',
            reference,
            amount_usdt: formatMicroUsdt(microUsdt),
            balance_usdt: formatMicroUsdt(result.balanceMicroUsdt),
            request_id: request.id,
          };
      }
    },
  );
}
