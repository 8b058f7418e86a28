import Type from 'typebox';

/**
 * Shapes that several route groups use. Each shape serves as TypeScript type, as request validation and as part of the
 * OpenAPI document.
 */

export const usdt = (description: string) =>
  Type.String({ pattern: '^-?\\d+\\.\\d{6}$', description, examples: ['1.081082'] });

export const rubles = (description: string) =>
  Type.String({ pattern: '^\\d+\\.\\d{2}$', description, examples: ['100.00'] });

export const rate = Type.String({
  pattern: '^\\d+\\.\\d{4}$',
  description: 'RUB for 1 USDT, margin included',
  examples: ['92.5000'],
});

export const mode = Type.Enum(['live', 'test'], { description: 'The mode of the key' });

export const requestId = Type.String({
  pattern: '^req_[0-7][0-9a-z]{25}$',
  description: 'Identifies this request; also in the header X-Request-Id',
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

export const instant = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-15T10:00:00.123000+00:00'] });

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
        description: 'Details of unfinished and declined payments',
      }),
    ),
    external_id: orNull(Type.String({ description: 'Your order id, as sent', examples: ['order-42'] })),
    recipient: Type.String({ description: 'According to the SBP data', examples: ['Test recipient'] }),
    amount_rub: rubles('Payment amount in rubles'),
    amount_usdt: usdt('Amount debited from the balance'),
    rate,
    currency: Type.Literal('RUB'),
    settlement_currency: Type.Literal('USDT'),
    created_at: instant('Creation time'),
    settled_at: orNull(instant('Completion time')),
    error: orNull(
      Type.Object(
        { code: Type.String({ examples: ['gateway_declined'] }), message: Type.String() },
        { description: 'Why a payment failed; null otherwise' },
      ),
    ),
    metadata: Type.Object({}, { additionalProperties: true, description: 'Your metadata, as sent' }),
  },
  { $id: 'Payment' },
);

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'Stable; rely on this' }),
      message: Type.String({ description: 'For people; may change' }),
      request_id: requestId,
      retryable: Type.Boolean({
        description: 'Addition. True: wait, then send the same request again',
      }),
      same_key: Type.Boolean({
        description:
          'Addition. True: whenever you send this payment again, even after fixing it, keep its `Idempotency-Key`. False: the key is missing or belongs to another payment',
      }),
      required_usdt: Type.Optional(usdt('With `insufficient_balance`: the required amount')),
      balance_usdt: Type.Optional(usdt('With `insufficient_balance`: the available balance')),
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
