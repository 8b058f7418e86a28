import Type from 'typebox';
import * as examples from '../docs/examples.ts';
import { apiKeySecurity, responses } from '../http/responses.ts';
import { instant, orNull, quoteId, rate, requestId, rubles, usdt } from '../shared-schemas.ts';

const freshness = {
  as_of: Type.Integer({ description: 'Unix seconds of the exchange data', examples: [1794736740] }),
  max_age_sec: Type.Integer({ description: 'Maximum age of the rate for payments', examples: [300] }),
  stale: Type.Boolean({
    description: 'True when the rate is too old and payments are not accepted',
    examples: [false],
  }),
};

const Rate = Type.Object({
  pair: Type.Literal('USDT/RUB'),
  rate,
  ...freshness,
  request_id: requestId,
});

const Quote = Type.Object({
  amount_rub: rubles('As requested'),
  amount_usdt: usdt('Amount that would be debited, rounded up', '3.298379'),
  rate,
  pair: Type.Literal('USDT/RUB'),
  fee_rub: Type.Literal('0.00'),
  ...freshness,
  quote_id: Type.Optional(
    quoteId(
      'Addition, only with `lock`: send it with the payment, which then has this rate. It serves one payment',
    ),
  ),
  expires_at: Type.Optional(
    instant(
      'Addition, only with `lock`: the payment must be accepted before',
      examples.lockedQuote.expires_at,
    ),
  ),
  request_id: requestId,
});

const amountRub = Type.Union([Type.String(), Type.Number()], {
  description: 'Rubles as a decimal string or a number, with at most 2 decimal places',
  examples: ['305.10'],
});

const QuoteRequest = Type.Object(
  {
    amount_rub: amountRub,
    lock: Type.Optional(
      orNull(
        Type.Boolean({
          description:
            'Addition. True: the rate is kept for one payment of this amount until `expires_at`. It is a little lower than the current one. The key must be able to pay',
          examples: [true],
        }),
      ),
    ),
  },
  { 'x-examples': examples.quoteRequest },
);

export const getRateOperation = {
  operationId: 'getRate',
  tags: ['Rates'],
  summary: 'Current rate',
  security: apiKeySecurity,
  response: responses(
    { description: 'The rate for new payments', schema: Rate, examples: examples.currentRate },
    ['rate_unavailable'],
  ),
};

export const createQuoteOperation = {
  operationId: 'createQuote',
  tags: ['Rates'],
  summary: 'How much USDT is debited for an amount in rubles',
  security: apiKeySecurity,
  body: QuoteRequest,
  response: responses(
    { description: 'What a payment of this amount would cost now', schema: Quote, examples: examples.quote },
    [
      'invalid_request',
      'amount_limit_exceeded',
      'key_payment_limit_exceeded',
      'quote_limit_exceeded',
      'rate_unavailable',
      'maintenance',
    ],
    examples.missingField('body', 'amount_rub'),
  ),
};
