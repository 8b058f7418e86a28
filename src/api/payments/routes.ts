import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { parseId } from '../../base/ids.ts';
import { formatKopecks } from '../../base/money.ts';
import { isRecipientBlocked } from '../../controls/index.ts';
import { findPayment, findRefundedOf, listPayments, paymentObject, resolveQr } from '../../payments/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { refuseUnstorableText } from '../http/body.ts';
import { endpoint, sendJsonList, sendJsonText, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { readInstant } from '../http/instants.ts';
import { orNull, pageOf, pageSize, requestId, rubles } from '../shared-schemas.ts';
import { createPaymentRoute, qrUrl } from './create-payment.ts';
import { createFinishedPaymentCache, type FinishedPaymentCache } from './finished-payment-cache.ts';

const ResolvedQr = Type.Object({
  qrc_id: Type.String({ examples: ['AD10004MV5CJ3D638358RO81129CE63P'] }),
  recipient: Type.String({ examples: ['Test recipient'] }),
  amount_rub: rubles('Amount of the QR code'),
  currency: Type.Literal('RUB'),
  purpose: Type.String({ examples: ['Test payment'] }),
  payable: Type.Boolean({
    description: 'False when the recipient is blocked or the amount is outside the limits',
    examples: [true],
  }),
  request_id: requestId,
});

const resolveQrEndpoint = endpoint({
  route: 'POST /v1/qr/resolve',
  operationId: 'resolveQr',
  tag: 'Payments',
  summary: 'QR details without a debit',
  body: Type.Object({ qr_url: qrUrl }, { 'x-examples': examples.resolveRequest }),
  answer: {
    description: 'What the code says',
    schema: ResolvedQr,
    examples: examples.answered('The code can be paid', ResolvedQr, 'req_01m7fabjyge009jsd1vk8xn2fb'),
  },
  errors: [
    'invalid_request',
    'invalid_qr',
    'unsupported_qr',
    'unsupported_variable_amount',
    'qr_unresolvable',
    'gateway_unavailable',
    'gateway_busy',
  ],
  malformed: examples.missingField('body', 'qr_url'),
});

const listPaymentsEndpoint = endpoint({
  route: 'GET /v1/payments',
  operationId: 'listPayments',
  tag: 'Payments',
  summary: 'Payment history, newest first',
  querystring: Type.Object({
    limit: pageSize,
    starting_after: Type.Optional(
      Type.String({
        description: 'The id of the last payment on the previous page',
        examples: [examples.succeeded.id],
      }),
    ),
    status: Type.Optional(Type.Enum(['processing', 'succeeded', 'failed'])),
    external_id: Type.Optional(
      Type.String({ maxLength: 128, description: 'Optional. Only payments with this order identifier' }),
    ),
    created_after: Type.Optional(
      Type.String({
        description:
          'Optional. Only payments created at this time or later: ISO 8601 with offset. With `created_before` of one request as `created_after` of the next, no payment is missed or returned twice',
        examples: ['2026-11-15T00:00:00Z'],
      }),
    ),
    created_before: Type.Optional(
      Type.String({
        description: 'Optional. Only payments created before this time: ISO 8601 with offset',
        examples: ['2026-11-16T00:00:00Z'],
      }),
    ),
  }),
  answer: {
    description: 'One page of payments',
    schema: pageOf(
      Type.Ref('Payment'),
      false,
      orNull(Type.String({ description: 'Pass it as `starting_after`; null on the last page' })),
    ),
    examples: examples.paymentList,
  },
  errors: ['not_found'],
  malformed: examples.notAnInteger('query', 'limit'),
});

export const getPayment = endpoint({
  route: 'GET /v1/payments/:payment_id',
  operationId: 'getPayment',
  tag: 'Payments',
  summary: 'Status of one payment: the source of truth',
  params: Type.Object({
    payment_id: Type.String({ description: 'The id of a payment', examples: [examples.succeeded.id] }),
  }),
  answer: {
    description: 'The payment',
    schema: Type.Ref('Payment'),
    examples: examples.paymentAnswers,
  },
  errors: ['not_found'],
});

export function paymentRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const cache = createFinishedPaymentCache(deps.clock);
  resolveQrRoute(server, deps);
  createPaymentRoute(server, deps, cache);
  listPaymentsRoute(server, deps);
  getPaymentRoute(server, deps, cache);
}

function resolveQrRoute(server: FastifyInstance, deps: ApiDeps): void {
  serve(server, resolveQrEndpoint, async (request, reply) => {
    const { limits, rights } = request.caller;
    const resolution = await resolveQr(deps, request.caller, request.body.qr_url);
    if (resolution.outcome === 'refused') return sendError(request, reply, resolution.code);
    const { qr } = resolution;
    const isWithinLimits =
      qr.amountKopecks >= limits.minKopecks &&
      qr.amountKopecks <= limits.maxKopecks &&
      qr.amountKopecks <= (rights?.maxKopecks ?? limits.maxKopecks);
    return {
      qrc_id: qr.qrcId,
      recipient: qr.recipient,
      amount_rub: formatKopecks(qr.amountKopecks),
      currency: 'RUB',
      purpose: qr.purpose,
      payable: isWithinLimits && !(await isRecipientBlocked(deps.db, [qr.recipient, qr.recipientId])),
      request_id: request.id,
    };
  });
}

function listPaymentsRoute(server: FastifyInstance, deps: ApiDeps): void {
  serve(server, listPaymentsEndpoint, async (request, reply) => {
    const { limit, starting_after: after, status, external_id: externalId } = request.query;
    if (externalId !== undefined) refuseUnstorableText(externalId, ['query', 'external_id']);
    const createdFrom = readInstant(request.query.created_after, 'created_after');
    const createdBefore = readInstant(request.query.created_before, 'created_before');
    const startingAfter = after === undefined ? undefined : parseId('pay', after);
    const { reads } = deps;
    if (after !== undefined) {
      const cursor = startingAfter && (await findPayment(reads.byKey, request.caller, startingAfter));
      if (startingAfter && !cursor) await deps.confirmHistory();
      if (!cursor || cursor.status === 'rejected') return sendError(request, reply, 'not_found');
    }
    const page = await listPayments(reads.of(request.caller.partnerId), request.caller, {
      limit,
      startingAfter,
      status,
      externalId,
      createdFrom,
      createdBefore,
    });
    // A partner may take it for final that there is no payment.
    if (page.payments.length === 0) await deps.confirmHistory();
    const refunded = page.mayHaveRefunds ? await findRefundedOf(reads.byKey, page.payments) : [];
    const objects = page.payments.map((payment, index) => paymentObject(payment, refunded[index]));
    return sendJsonList(reply, objects, {
      has_more: page.hasMore,
      next_cursor: page.hasMore ? page.payments.at(-1)!.paymentId : null,
      request_id: request.id,
    });
  });
}

function getPaymentRoute(server: FastifyInstance, deps: ApiDeps, cache: FinishedPaymentCache): void {
  serve(server, getPayment, async (request, reply) => {
    const { reads } = deps;
    const { payment_id: asked } = request.params;
    const cached = await cache.find(reads.byKey, request.caller, asked);
    if (cached) return sendJsonText(reply, cached);
    const paymentId = parseId('pay', asked);
    const payment = paymentId && (await findPayment(reads.byKey, request.caller, paymentId));
    if (paymentId && !payment) await deps.confirmHistory();
    if (!payment || payment.status === 'rejected') return sendError(request, reply, 'not_found');
    return sendJsonText(reply, await cache.toJson(reads.byKey, payment));
  });
}
