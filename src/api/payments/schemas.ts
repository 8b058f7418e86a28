import Type from 'typebox';
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
  }),
  request_id: requestId,
});

const PaymentRef = Type.Ref('Payment');

const PaymentList = Type.Object({
  data: Type.Array(Type.Ref('Payment')),
  has_more: Type.Boolean(),
  next_cursor: orNull(Type.String({ description: 'Pass it as `starting_after`; null on the last page' })),
  request_id: requestId,
});

const qrUrl = Type.String({
  description: 'Link of an SBP QR code',
  examples: [
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
  ],
});

const ResolveRequest = Type.Object({ qr_url: qrUrl });

const PaymentRequest = Type.Object({
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
  metadata: Type.Optional(
    orNull(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Arbitrary data, returned in the payment and in webhooks. At most 16 KiB',
        },
      ),
    ),
  ),
});

/** Optional for the validator, because a missing key has its own error code. */
const PaymentHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. 1 to 255 printable ASCII characters; the same one on every repeat of the same payment',
      examples: ['0b7a3c1e-5d0f-4a57-9d43-9a2f7f0c1b2d'],
    }),
  ),
});

const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  starting_after: Type.Optional(
    Type.String({ description: 'The id of the last payment on the previous page' }),
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

const PaymentParams = Type.Object({ payment_id: Type.String({ description: 'The id of a payment' }) });

export const resolveQrOperation = {
  operationId: 'resolveQr',
  tags: ['Payments'],
  summary: 'QR details without a debit',
  security: apiKeySecurity,
  body: ResolveRequest,
  response: responses(ResolvedQr, [
    'invalid_request',
    'invalid_qr',
    'unsupported_qr',
    'unsupported_variable_amount',
    'qr_unresolvable',
    'gateway_unavailable',
    'gateway_busy',
  ]),
};

export const createPaymentOperation = {
  operationId: 'createPayment',
  tags: ['Payments'],
  summary: 'Pay an SBP QR code',
  security: apiKeySecurity,
  headers: PaymentHeaders,
  body: PaymentRequest,
  response: responses(PaymentRef, [
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
    'idempotency_conflict',
    'duplicate_qr_in_flight',
    'qr_changed',
    'qr_unresolvable',
    'rate_unavailable',
    'gateway_unavailable',
    'gateway_busy',
    'maintenance',
  ]),
};

export const listPaymentsOperation = {
  operationId: 'listPayments',
  tags: ['Payments'],
  summary: 'Payment history, newest first',
  security: apiKeySecurity,
  querystring: ListQuery,
  response: responses(PaymentList, ['not_found']),
};

export const getPaymentOperation = {
  operationId: 'getPayment',
  tags: ['Payments'],
  summary: 'Status of one payment: the source of truth',
  security: apiKeySecurity,
  params: PaymentParams,
  response: responses(PaymentRef, ['not_found']),
};
