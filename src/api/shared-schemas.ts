import Type from 'typebox';
import {
  insufficientBalance,
  lockedQuote,
  missingField,
  partnerId as partnerIdExample,
  succeeded,
} from './docs/examples.ts';

/**
 * Shapes that several route groups use. Each shape serves as TypeScript type, as request validation and as part of the
 * OpenAPI document.
 */

export const usdt = (description: string, example: string) =>
  Type.String({ pattern: '^-?\\d+\\.\\d{6}$', description, examples: [example] });

export const rubles = (description: string) =>
  Type.String({ pattern: '^\\d+\\.\\d{2}$', description, examples: [succeeded.amount_rub] });

export const rate = Type.String({
  pattern: '^\\d+\\.\\d{4}$',
  description: 'RUB for 1 USDT, margin included',
  examples: [succeeded.rate],
});

export const mode = Type.Enum(['live', 'test'], {
  description: 'The mode of the key',
  examples: [succeeded.mode],
});

export const requestId = Type.String({
  pattern: '^req_[0-7][0-9a-z]{25}$',
  description: 'Identifies this request; also in the header X-Request-Id',
  examples: [insufficientBalance.request_id],
});

export const paymentId = (example: string) =>
  Type.String({
    pattern: '^pay_[0-7][0-9a-z]{25}$',
    description: 'Assigned by the service',
    examples: [example],
  });

export const quoteId = (description: string) =>
  Type.String({ pattern: '^qte_[0-7][0-9a-z]{25}$', description, examples: [lockedQuote.quote_id] });

export const partnerId = Type.String({
  pattern: '^prt_[0-7][0-9a-z]{25}$',
  examples: [partnerIdExample],
});

/** How many entries a page of a list has. */
export const pageSize = Type.Integer({ minimum: 1, maximum: 100, default: 50 });

export const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const instant = (description: string, example: string) =>
  Type.String({ format: 'date-time', description, examples: [example] });

/** A page of a list: its entries, and how to get the next one. */
export const pageOf = <Entry extends Type.TSchema, Cursor extends Type.TSchema>(
  entry: Entry,
  hasMore: boolean,
  next_cursor: Cursor,
) =>
  Type.Object({
    data: Type.Array(entry),
    has_more: Type.Boolean({ examples: [hasMore] }),
    next_cursor,
    request_id: requestId,
  });

export const Payment = Type.Object(
  {
    id: paymentId(succeeded.id),
    object: Type.Literal('payment'),
    mode,
    status: Type.Enum(['processing', 'succeeded', 'failed'], {
      description: '`processing` is not a refusal: the amount is debited and the outcome not yet known',
      examples: [succeeded.status],
    }),
    status_detail: orNull(
      Type.Enum(['awaiting_gateway', 'manual_review', 'gateway_declined'], {
        description: 'Details of unfinished and declined payments',
      }),
    ),
    external_id: orNull(
      Type.String({ description: 'Your order id, as sent', examples: [succeeded.external_id] }),
    ),
    recipient: Type.String({ description: 'According to the SBP data', examples: [succeeded.recipient] }),
    amount_rub: rubles('Payment amount in rubles'),
    amount_usdt: usdt('Amount debited from the balance', succeeded.amount_usdt),
    rate,
    currency: Type.Literal('RUB'),
    settlement_currency: Type.Literal('USDT'),
    created_at: instant('Creation time', succeeded.created_at),
    settled_at: orNull(instant('Completion time', succeeded.settled_at)),
    error: orNull(
      Type.Object(
        { code: Type.String({ examples: ['gateway_declined'] }), message: Type.String() },
        { description: 'Why a payment failed; null otherwise' },
      ),
    ),
    refunded_rub: Type.Optional(
      Type.String({
        description:
          'Optional, only once the recipient has returned money: the sum of all refunds, at most `amount_rub`. The status stays `succeeded`',
      }),
    ),
    refunded_usdt: Type.Optional(
      Type.String({
        description:
          'Optional, with `refunded_rub`: what came back to the balance, at the rate of the payment',
      }),
    ),
    metadata: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'Your metadata, as sent',
        examples: [succeeded.metadata],
      },
    ),
  },
  { $id: 'Payment', examples: [succeeded] },
);

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: 'Stable; rely on this', examples: [insufficientBalance.code] }),
      message: Type.String({
        description: 'For people; may change',
        examples: [insufficientBalance.message],
      }),
      request_id: requestId,
      retryable: Type.Boolean({
        description: 'Optional. True: wait, then send the same request again',
        examples: [insufficientBalance.retryable],
      }),
      same_key: Type.Boolean({
        description:
          'Optional. True: whenever you send this payment again, even after fixing it, keep its `Idempotency-Key`. False: the key is missing or belongs to another payment',
        examples: [insufficientBalance.same_key],
      }),
      required_usdt: Type.Optional(
        usdt('With `insufficient_balance`: the required amount', insufficientBalance.required_usdt),
      ),
      balance_usdt: Type.Optional(
        usdt('With `insufficient_balance`: the available balance', insufficientBalance.balance_usdt),
      ),
    }),
  },
  { $id: 'Error', examples: [{ error: insufficientBalance }] },
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
  { $id: 'ValidationError', examples: [{ detail: [missingField('body', 'amount_rub')] }] },
);
