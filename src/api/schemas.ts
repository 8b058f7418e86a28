/** The shapes of the contract: one each for types, validation and the OpenAPI document. */
import Type from 'typebox';

export const usdt = (description: string) =>
  Type.String({ pattern: '^-?\\d+\\.\\d{6}$', description, examples: ['1.081082'] });
const rubles = (description: string) =>
  Type.String({ pattern: '^\\d+\\.\\d{2}$', description, examples: ['100.00'] });
const rate = Type.String({
  pattern: '^\\d+\\.\\d{4}$',
  description: 'RUB for 1 USDT, margin included',
  examples: ['92.5000'],
});
export const mode = Type.Enum(['live', 'test'], { description: 'The mode of the key' });
export const requestId = Type.String({
  pattern: '^req_[0-7][0-9a-z]{25}$',
  description: 'Names this request; also in the header X-Request-Id',
  examples: ['req_01m7ehqr39e00aq7xw60wbe32j'],
});
export const paymentId = Type.String({
  pattern: '^pay_[0-7][0-9a-z]{25}$',
  description: 'Assigned by the service',
  examples: ['pay_01m7ehqr39e00aq7xw60wbe32j'],
});
export const partnerId = Type.String({
  pattern: '^prt_[0-7][0-9a-z]{25}$',
  examples: ['prt_01m7ehqr39e00aq7xw60wbe32j'],
});
export const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const instant = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-15T10:00:00.123000+00:00'] });

export const Ping = Type.Object({
  ok: Type.Boolean(),
  partner_id: partnerId,
  mode,
  api_version: Type.String({ examples: ['2026-11-14'] }),
  request_id: requestId,
});

export const Balance = Type.Object({
  balance_usdt: usdt('What can be spent'),
  currency: Type.Literal('USDT'),
  request_id: requestId,
});

const freshness = {
  as_of: Type.Integer({ description: 'Unix seconds of the exchange data', examples: [1794737400] }),
  max_age_sec: Type.Integer({ description: 'Past this age payments are closed', examples: [300] }),
  stale: Type.Boolean({ description: 'True while payments are closed for the age of the rate' }),
};

export const Rate = Type.Object({
  pair: Type.Literal('USDT/RUB'),
  rate,
  ...freshness,
  request_id: requestId,
});

export const Quote = Type.Object({
  amount_rub: rubles('As it was asked'),
  amount_usdt: usdt('What would be debited, rounded up'),
  rate,
  pair: Type.Literal('USDT/RUB'),
  fee_rub: Type.Literal('0.00'),
  ...freshness,
  request_id: requestId,
});

export const ResolvedQr = Type.Object({
  qrc_id: Type.String({ examples: ['AD10004MV5CJ3D638358RO81129CE63P'] }),
  recipient: Type.String({ examples: ['Test recipient'] }),
  amount_rub: rubles('What the code asks for'),
  currency: Type.Literal('RUB'),
  purpose: Type.String({ examples: ['Test payment'] }),
  payable: Type.Boolean({
    description: 'False when the recipient is blocked or the amount outside the limits',
  }),
  request_id: requestId,
});

export const Payment = Type.Object(
  {
    id: paymentId,
    object: Type.Literal('payment'),
    mode,
    status: Type.Enum(['processing', 'succeeded', 'failed'], {
      description: '`processing` is not a refusal: the amount is debited and the outcome not yet known',
    }),
    status_detail: orNull(
      Type.Enum(['awaiting_gateway', 'manual_review', 'gateway_declined'], {
        description: 'Refines unfinished and declined payments',
      }),
    ),
    external_id: orNull(Type.String({ description: 'As it was sent', examples: ['order-42'] })),
    recipient: Type.String({ description: 'According to the SBP data', examples: ['Test recipient'] }),
    amount_rub: rubles('What was paid'),
    amount_usdt: usdt('What was debited from the balance'),
    rate,
    currency: Type.Literal('RUB'),
    settlement_currency: Type.Literal('USDT'),
    created_at: instant('When it was created'),
    settled_at: orNull(instant('When it was finished')),
    error: orNull(
      Type.Object(
        { code: Type.String({ examples: ['gateway_declined'] }), message: Type.String() },
        { description: 'Why a payment failed; null otherwise' },
      ),
    ),
    metadata: Type.Object({}, { additionalProperties: true, description: 'What was sent, as it was sent' }),
  },
  { $id: 'Payment' },
);

export const PaymentRef = Type.Ref('Payment');

export const PaymentList = Type.Object({
  data: Type.Array(Type.Ref('Payment')),
  has_more: Type.Boolean(),
  next_cursor: orNull(Type.String({ description: 'Pass it as `starting_after`; null on the last page' })),
  request_id: requestId,
});

const amountRub = Type.Union([Type.String(), Type.Number()], {
  description: 'Rubles as a decimal string or a number, with at most 2 places',
  examples: ['100.00'],
});
const qrUrl = Type.String({
  description: 'Link of an SBP QR code',
  examples: [
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
  ],
});

export const QuoteRequest = Type.Object({ amount_rub: amountRub });
export const ResolveRequest = Type.Object({ qr_url: qrUrl });
export const PaymentRequest = Type.Object({
  qr_url: qrUrl,
  amount_rub: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Null()], {
      description: 'Expected amount; a QR code over another one is refused with `amount_mismatch`',
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
          description: 'Anything; returned in the payment and in webhooks. At most 16 KiB',
        },
      ),
    ),
  ),
});

/** Missing, it is an error of its own, so the shape says optional. */
export const PaymentHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. 1 to 255 printable ASCII characters; the same one on every repeat of the same payment',
      examples: ['0b7a3c1e-5d0f-4a57-9d43-9a2f7f0c1b2d'],
    }),
  ),
});

export const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  starting_after: Type.Optional(
    Type.String({ description: 'The id of the last payment of the page before' }),
  ),
  status: Type.Optional(Type.Enum(['processing', 'succeeded', 'failed'])),
  external_id: Type.Optional(
    Type.String({ maxLength: 128, description: 'Addition. Only payments that you call so' }),
  ),
  created_after: Type.Optional(
    Type.String({
      description:
        'Addition. Only payments created at this time or later: ISO 8601 with offset. With `created_before` of one request as `created_after` of the next, nothing is missed or seen twice',
      examples: ['2026-11-15T00:00:00Z'],
    }),
  ),
  created_before: Type.Optional(
    Type.String({
      description: 'Addition. Only payments created before this time, and not at it: ISO 8601 with offset',
      examples: ['2026-11-16T00:00:00Z'],
    }),
  ),
});

export const EventQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  after: Type.Optional(
    Type.String({
      description: 'The id of the last event that you have; none: from the first',
      examples: ['evt_17'],
    }),
  ),
});

export const EventList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String({ pattern: '^evt_\\d+$', examples: ['evt_17'] }),
      event: Type.Enum(['payment.succeeded', 'payment.failed']),
      created_at: instant('When it happened'),
      data: Type.Ref('Payment'),
    }),
  ),
  has_more: Type.Boolean(),
  next_cursor: Type.String({ description: 'Pass it as `after`, now or later', examples: ['evt_17'] }),
  request_id: requestId,
});

export const PaymentParams = Type.Object({ payment_id: Type.String({ description: 'The id of a payment' }) });

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'Stable; rely on this' }),
      message: Type.String({ description: 'May change; for people' }),
      request_id: requestId,
      retryable: Type.Boolean({
        description: 'Addition. True: wait, then send the same request again; it may well go through',
      }),
      same_key: Type.Boolean({
        description:
          'Addition. True: whenever you send this payment again, also after mending it, keep its `Idempotency-Key`. False: the key is missing or belongs to another payment',
      }),
      required_usdt: Type.Optional(usdt('With `insufficient_balance`: what the payment needs')),
      balance_usdt: Type.Optional(usdt('With `insufficient_balance`: what there is')),
    }),
  },
  { $id: 'Error' },
);

export const ValidationErrorBody = Type.Object(
  {
    detail: Type.Array(
      Type.Object({
        loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
        msg: Type.String(),
        type: Type.String(),
      }),
    ),
  },
  { $id: 'ValidationError' },
);
