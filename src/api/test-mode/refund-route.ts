import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { formatKopecks, formatMicroUsdt, parseKopecks } from '../../base/money.ts';
import { refundTestPayment } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { paymentId, requestId, usdt } from '../shared-schemas.ts';
import { onlyTestKeys } from './routes.ts';

const exampleReference = 'refund-1';
const rubles = (description: string) =>
  Type.String({ pattern: '^\\d+\\.\\d{2}$', description, examples: ['100.00'] });

const TestRefund = Type.Object({
  object: Type.Literal('test_refund'),
  payment_id: paymentId(examples.succeeded.id),
  reference: Type.String({ examples: [exampleReference] }),
  amount_rub: rubles('What came back with this refund'),
  amount_usdt: usdt('The same at the rate of the payment', '1.081081'),
  refunded_rub: rubles('The sum of the refunds of the payment up to this one'),
  refunded_usdt: usdt('The same in USDT', '1.081081'),
  request_id: requestId,
});

const createTestRefund = endpoint({
  route: 'POST /v1/test/refunds',
  operationId: 'createTestRefund',
  tag: 'Optional',
  summary: 'Simulate a refund in test mode',
  description:
    'Returns money of a test payment that succeeded, as if its recipient had refunded it: the payment gets `refunded_rub` and `refunded_usdt`, the balance and the statement an entry, and endpoints that ask for it the event `payment.refunded`. The same reference with the same payment and amount refunds nothing more and gets the same answer, otherwise 409 `idempotency_conflict`. At most 100 a day, then 403 `daily_limit_exceeded`. Test keys only: a live key gets 403 `test_key_required`.',
  config: { scope: 'pay' },
  hooks: { onRequest: onlyTestKeys },
  body: Type.Object(
    {
      payment_id: Type.String({ maxLength: 100, examples: [examples.succeeded.id] }),
      amount_rub: Type.Optional(
        Type.String({
          maxLength: 20,
          description: 'From 0.01 to what is left of the payment; without it, all of that',
          examples: ['100.00'],
        }),
      ),
      reference: Type.String({
        pattern: '^[A-Za-z0-9._-]{1,64}$',
        description: 'Yours: 1 to 64 letters, digits, dots, hyphens and underscores. Each is refunded once',
        examples: [exampleReference],
      }),
    },
    {
      'x-examples': examples.only('A part of order-42', {
        ...{ payment_id: examples.succeeded.id, amount_rub: '100.00', reference: exampleReference },
      }),
    },
  ),
  answer: {
    description: 'The refund, made now or before',
    schema: TestRefund,
    examples: examples.answered('Refunded', TestRefund, 'req_01m7faz3yge00a3jv9t7f4b1bt'),
  },
  errors: [
    'invalid_request',
    'test_key_required',
    'daily_limit_exceeded',
    'not_found',
    'idempotency_conflict',
  ],
  malformed: examples.missingField('body', 'payment_id'),
});

const refusals = {
  no_payment: ['not_found', {}],
  not_paid: ['invalid_request', { message: 'Only a payment that succeeded can be refunded.' }],
  too_much: ['invalid_request', { message: 'amount_rub is more than what is left of the payment.' }],
  conflict: [
    'idempotency_conflict',
    { message: 'This reference belongs to another test refund; use a new one.' },
  ],
  too_many: ['daily_limit_exceeded', { message: 'At most 100 test refunds are possible on one day (UTC).' }],
} as const;

/** An addition to the contract: a simulated refund, since test payments have no recipient who could make one. */
export function testRefundRoute(server: FastifyInstance, { reads, clock, signals }: ApiDeps): void {
  serve(server, createTestRefund, async (request, reply) => {
    const { partnerId } = request.caller;
    const { payment_id, amount_rub, reference } = request.body;
    const paymentId = parseId('pay', payment_id);
    if (!paymentId) return sendError(request, reply, 'not_found');
    const amountKopecks = amount_rub === undefined ? undefined : parseKopecks(amount_rub);
    if (amount_rub !== undefined && !(amountKopecks !== undefined && amountKopecks > 0n))
      return sendError(request, reply, 'invalid_request', {
        message: 'amount_rub must be at least 0.01, with at most two places.',
      });
    // Refunds of one partner wait for each other, so they take its places and no others.
    const result = await reads.run(partnerId, pool =>
      refundTestPayment({ pool, clock, signals }, { partnerId, paymentId, amountKopecks, reference }),
    );
    if (result.outcome !== 'refunded') {
      const [code, message] = refusals[result.outcome];
      return sendError(request, reply, code, message);
    }
    const { refund } = result;
    return {
      object: 'test_refund',
      payment_id: paymentId,
      reference,
      amount_rub: formatKopecks(refund.amountKopecks),
      amount_usdt: formatMicroUsdt(refund.amountMicroUsdt),
      refunded_rub: formatKopecks(refund.kopecks),
      refunded_usdt: formatMicroUsdt(refund.microUsdt),
      request_id: request.id,
    };
  });
}
