import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { formatMicroUsdt, parseMicroUsdt } from '../../base/money.ts';
import { creditTestDeposit } from '../../deposits/index.ts';
import { readTestClock } from '../../payments/index.ts';
import { moveTestClock } from '../../webhooks/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { requestId, usdt } from '../shared-schemas.ts';

/** Checked before the body is validated: a live key gets the same answer for every body. */
export const onlyTestKeys = async (request: FastifyRequest, reply: FastifyReply) =>
  request.caller.mode === 'test' ? undefined : sendError(request, reply, 'test_key_required');

const TestClock = Type.Object({
  object: Type.Literal('test_clock'),
  advanced_sec: Type.Integer({ description: 'Total time advanced, in seconds', examples: [30] }),
  request_id: requestId,
});

const getTestClock = endpoint({
  route: 'GET /v1/test/clock',
  operationId: 'getTestClock',
  tag: 'Optional',
  summary: 'How far your test clock was advanced',
  hooks: { onRequest: onlyTestKeys },
  answer: {
    description: 'The total of all advances',
    schema: TestClock,
    examples: examples.answered('Advanced once', TestClock, 'req_01m7faz3yge00a3jv9t7f4b1bt'),
  },
  errors: ['test_key_required'],
});

const advanceTestClock = endpoint({
  route: 'POST /v1/test/clock',
  operationId: 'advanceTestClock',
  tag: 'Optional',
  summary: 'Advance your test clock',
  description:
    'Shortens all current waits of your test payments: outcomes of unfinished payments (the 30 seconds of .02; the 2 minutes of a review), the backoff before the next webhook attempt, events that are held back. Whatever becomes due happens immediately. A wait that starts later, such as the backoff after the next attempt, has its full length. Times of payments and entries come from the real clock, and live payments are not affected. Test keys only: a live key gets 403 `test_key_required`.',
  config: { scope: 'pay' },
  hooks: { onRequest: onlyTestKeys },
  body: Type.Object(
    { advance_sec: Type.Integer({ minimum: 1, maximum: 604_800, examples: [30] }) },
    { 'x-examples': examples.clockRequest },
  ),
  answer: {
    description: 'The total of all advances, this one included',
    schema: TestClock,
    examples: examples.answered('Order-44 is final now', TestClock, 'req_01m7faz2z8e00a5kq2dfq515m3'),
  },
  errors: ['invalid_request', 'test_key_required'],
  malformed: examples.missingField('body', 'advance_sec'),
});

const exampleReference = 'top-up-1';
const TestDeposit = Type.Object({
  object: Type.Literal('test_deposit'),
  reference: Type.String({ examples: [exampleReference] }),
  amount_usdt: usdt('What was credited', '250.000000'),
  balance_usdt: usdt('The test balance now', '10250.000000'),
  request_id: requestId,
});

const createTestDeposit = endpoint({
  route: 'POST /v1/test/deposits',
  operationId: 'createTestDeposit',
  tag: 'Optional',
  summary: 'Simulate a USDT deposit in test mode',
  description:
    'Credits your test balance immediately; in live mode a deposit follows a transfer on chain. The statement shows the credit with the reference `deposit:test:` and yours. The same reference with the same amount credits nothing more and gets the same answer, with another amount 409 `idempotency_conflict`. At most 100 a day, then 403 `daily_limit_exceeded`. Test keys only: a live key gets 403 `test_key_required`.',
  config: { scope: 'pay' },
  hooks: { onRequest: onlyTestKeys },
  body: Type.Object(
    {
      amount_usdt: Type.String({
        maxLength: 20,
        description: 'From 0.000001 to 1000000, with at most six places',
        examples: ['250'],
      }),
      reference: Type.String({
        pattern: '^[A-Za-z0-9._-]{1,64}$',
        description: 'Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is credited once',
        examples: [exampleReference],
      }),
    },
    { 'x-examples': examples.only('250 USDT', { amount_usdt: '250', reference: exampleReference }) },
  ),
  answer: {
    description: 'The credit, made now or before',
    schema: TestDeposit,
    examples: examples.answered('Credited', TestDeposit, 'req_01m7faz3yge00a3jv9t7f4b1bt'),
  },
  errors: ['invalid_request', 'test_key_required', 'daily_limit_exceeded', 'idempotency_conflict'],
  malformed: examples.missingField('body', 'reference'),
});

/** An addition to the contract: the test clock, so that tests need not wait. */
export function testClockRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const describe = (request: FastifyRequest, advancedSec: number) => ({
    object: 'test_clock',
    advanced_sec: advancedSec,
    request_id: request.id,
  });

  serve(server, getTestClock, async request => {
    const { partnerId } = request.caller;
    const { reads } = deps;
    return describe(request, await readTestClock(reads.of(partnerId), partnerId));
  });

  serve(server, advanceTestClock, async request => {
    const { partnerId } = request.caller;
    // Moves of one partner wait for each other, so they take its places and no others.
    const { reads, signals } = deps;
    const sumSec = await reads.run(partnerId, pool =>
      moveTestClock(pool, deps.clock, partnerId, request.body.advance_sec),
    );
    signals.testClockMoved.emit();
    return describe(request, sumSec);
  });
}

/** More than any test needs, and sums of it stay far from what the ledger can hold. */
const maxTestDeposit = 1_000_000_000_000n;

/** An addition to the contract: a simulated deposit, so that tests need no chain. */
export function testDepositRoutes(server: FastifyInstance, deps: ApiDeps): void {
  serve(server, createTestDeposit, async (request, reply) => {
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
  });
}
