import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { orNull, requestId, rubles } from '../shared-schemas.ts';

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

const PaymentRef = Type.Ref('Payment');

const PaymentList = Type.Object({
  data: Type.Array(Type.Ref('Payment')),
  has_more: Type.Boolean({ examples: [false] }),
  next_cursor: orNull(Type.String({ description: 'Pass it as `starting_after`; null on the last page' })),
  request_id: requestId,
});

const qrUrl = Type.String({
  description: 'Link of an SBP QR code',
  examples: [examples.paymentRequests.succeeded.value.qr_url],
});

const ResolveRequest = Type.Object({ qr_url: qrUrl }, { 'x-examples': examples.resolveRequest });

const PaymentRequest = Type.Object(
  {
    qr_url: qrUrl,
    amount_rub: Type.Optional(
      Type.Union([Type.String(), Type.Number(), Type.Null()], {
        description: 'Expected amount; a QR code with a different amount is rejected with `amount_mismatch`',
        examples: ['305.10'],
      }),
    ),
    external_id: Type.Optional(
      orNull(Type.String({ maxLength: 128, description: 'Your order identifier', examples: ['order-42'] })),
    ),
    quote_id: Type.Optional(
      orNull(
        Type.String({
          maxLength: 64,
          description:
            'Addition. A quote that was locked for this amount: the payment has its rate, also while the current one is stale',
        }),
      ),
    ),
    metadata: Type.Optional(
      orNull(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description: 'Arbitrary data, returned in the payment and in webhooks. At most 16 KiB',
            examples: [examples.succeeded.metadata],
          },
        ),
      ),
    ),
  },
  { 'x-examples': examples.paymentRequests },
);

const PaymentHeaders = Type.Object({
  'Idempotency-Key': Type.String({
    minLength: 1,
    maxLength: 255,
    description: '1 to 255 printable ASCII characters; the same one on every repeat of the same payment',
    examples: [examples.idempotencyKey],
  }),
});

const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  starting_after: Type.Optional(
    Type.String({
      description: 'The id of the last payment on the previous page',
      examples: [examples.succeeded.id],
    }),
  ),
  status: Type.Optional(Type.Enum(['processing', 'succeeded', 'failed'])),
  external_id: Type.Optional(
    Type.String({ maxLength: 128, description: 'Addition. Only payments with this order identifier' }),
  ),
  created_after: Type.Optional(
    Type.String({
      description:
        'Addition. Only payments created at this time or later: ISO 8601 with offset. With `created_before` of one request as `created_after` of the next, no payment is missed or returned twice',
      examples: ['2026-11-15T00:00:00Z'],
    }),
  ),
  created_before: Type.Optional(
    Type.String({
      description: 'Addition. Only payments created before this time: ISO 8601 with offset',
      examples: ['2026-11-16T00:00:00Z'],
    }),
  ),
});

const PaymentParams = Type.Object({
  payment_id: Type.String({ description: 'The id of a payment', examples: [examples.succeeded.id] }),
});

export const resolveQrOperation = {
  operationId: 'resolveQr',
  tags: ['Payments'],
  summary: 'QR details without a debit',
  security: apiKeySecurity,
  body: ResolveRequest,
  response: responses(
    { description: 'What the code says', schema: ResolvedQr, examples: examples.resolvedQr },
    [
      'invalid_request',
      'invalid_qr',
      'unsupported_qr',
      'unsupported_variable_amount',
      'qr_unresolvable',
      'gateway_unavailable',
      'gateway_busy',
    ],
    examples.missingField('body', 'qr_url'),
  ),
};

export const createPaymentOperation = {
  operationId: 'createPayment',
  tags: ['Payments'],
  summary: 'Pay an SBP QR code',
  security: apiKeySecurity,
  // Not for the validator: a missing key has its own error code.
  documentedHeaders: PaymentHeaders,
  body: PaymentRequest,
  response: responses(
    {
      description: 'The payment, also when it was declined',
      schema: PaymentRef,
      examples: examples.paymentAnswers,
    },
    [
      'invalid_request',
      'missing_idempotency_key',
      'invalid_qr',
      'unsupported_qr',
      'unsupported_variable_amount',
      'amount_mismatch',
      'amount_limit_exceeded',
      'insufficient_balance',
      'recipient_blocked',
      'daily_limit_exceeded',
      'key_payment_limit_exceeded',
      'key_daily_limit_exceeded',
      'quote_not_found',
      'quote_mode_mismatch',
      'quote_amount_mismatch',
      'quote_used',
      'quote_expired',
      'idempotency_conflict',
      'duplicate_qr_in_flight',
      'qr_changed',
      'qr_unresolvable',
      'rate_unavailable',
      'gateway_unavailable',
      'gateway_busy',
      'maintenance',
    ],
    examples.missingField('body', 'qr_url'),
  ),
};

export const listPaymentsOperation = {
  operationId: 'listPayments',
  tags: ['Payments'],
  summary: 'Payment history, newest first',
  security: apiKeySecurity,
  querystring: ListQuery,
  response: responses(
    { description: 'One page of payments', schema: PaymentList, examples: examples.paymentList },
    ['not_found'],
    examples.notAnInteger('query', 'limit'),
  ),
};

export const getPaymentOperation = {
  operationId: 'getPayment',
  tags: ['Payments'],
  summary: 'Status of one payment: the source of truth',
  security: apiKeySecurity,
  params: PaymentParams,
  response: responses({ description: 'The payment', schema: PaymentRef, examples: examples.paymentAnswers }, [
    'not_found',
  ]),
};
