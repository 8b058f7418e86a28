import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { formatKopecks, formatMicroUsdt, formatRate, kopecksToMicroUsdt } from '../../base/money.ts';
import { formatInstant, lockQuote } from '../../payments/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import type { ApiDeps } from '../deps.ts';
import * as examples from '../docs/examples.ts';
import { losslessBody, readAmount } from '../http/body.ts';
import { endpoint, serve } from '../http/endpoint.ts';
import { sendError } from '../http/errors.ts';
import { limitMessage } from '../limit-message.ts';
import { instant, orNull, quoteId, rate, requestId, rubles, usdt } from '../shared-schemas.ts';

const pair = 'USDT/RUB';

const freshness = {
  as_of: Type.Integer({ description: 'Unix seconds of the exchange data', examples: [1794736740] }),
  max_age_sec: Type.Integer({ description: 'Maximum age of the rate for payments', examples: [300] }),
  stale: Type.Boolean({
    description: 'True when the rate is too old and payments are not accepted',
    examples: [false],
  }),
};

const Rate = Type.Object({ pair: Type.Literal(pair), rate, ...freshness, request_id: requestId });

const getRate = endpoint({
  route: 'GET /v1/rate',
  operationId: 'getRate',
  tag: 'Rates',
  summary: 'Current rate',
  answer: {
    description: 'The rate for new payments',
    schema: Rate,
    examples: examples.answered('Rubles for 1 USDT', Rate, 'req_01m7faazdge00aq0jew1djx791'),
  },
  errors: ['rate_unavailable'],
});

const createQuote = endpoint({
  route: 'POST /v1/quote',
  operationId: 'createQuote',
  tag: 'Rates',
  summary: 'How much USDT is debited for an amount in rubles',
  body: Type.Object(
    {
      amount_rub: Type.Union([Type.String(), Type.Number()], {
        description: 'Rubles as a decimal string or a number, with at most 2 decimal places',
        examples: ['305.10'],
      }),
      lock: Type.Optional(
        orNull(
          Type.Boolean({
            description:
              'Optional. True: the rate is kept for one payment of this amount until `expires_at`. It is a little lower than the current one. The key must be able to pay',
            examples: [true],
          }),
        ),
      ),
    },
    { 'x-examples': examples.quoteRequest },
  ),
  answer: {
    description: 'What a payment of this amount would cost now',
    schema: Type.Object({
      amount_rub: rubles('As requested'),
      amount_usdt: usdt('Amount that would be debited, rounded up', '3.298379'),
      rate,
      pair: Type.Literal(pair),
      fee_rub: Type.Literal('0.00'),
      ...freshness,
      quote_id: Type.Optional(
        quoteId(
          'Optional, only with `lock`: send it with the payment, which then has this rate. It serves one payment',
        ),
      ),
      expires_at: Type.Optional(
        instant(
          'Optional, only with `lock`: the payment must be accepted before',
          examples.lockedQuote.expires_at,
        ),
      ),
      request_id: requestId,
    }),
    examples: examples.quote,
  },
  errors: [
    'invalid_request',
    'amount_limit_exceeded',
    'key_payment_limit_exceeded',
    'quote_limit_exceeded',
    'rate_unavailable',
    'maintenance',
  ],
  malformed: examples.missingField('body', 'amount_rub'),
});

/** The current rate, and a quote for an amount. */
export function rateRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const describeFreshness = (rate: CurrentRate) => ({
    as_of: Math.floor(rate.asOf.getTime() / 1000),
    max_age_sec: deps.rateMaxAgeSec,
    stale: isStale(rate, deps.clock, deps.rateMaxAgeSec),
  });

  serve(server, getRate, async (request, reply) => {
    const rate = await readCurrentRate(deps.db);
    if (!rate) return sendError(request, reply, 'rate_unavailable');
    return { pair, rate: formatRate(rate.rateE4), ...describeFreshness(rate), request_id: request.id };
  });

  const describeQuote = (kopecks: bigint, rateE4: bigint, rate: CurrentRate) => ({
    amount_rub: formatKopecks(kopecks),
    amount_usdt: formatMicroUsdt(kopecksToMicroUsdt(kopecks, rateE4)),
    rate: formatRate(rateE4),
    pair,
    fee_rub: '0.00',
    ...describeFreshness(rate),
  });

  serve(server, createQuote, async (request, reply) => {
    const kopecks = readAmount(losslessBody(request))!;
    if (request.body.lock) return lock(request, reply, kopecks);
    const rate = await readCurrentRate(deps.db);
    if (!rate) return sendError(request, reply, 'rate_unavailable');
    return { ...describeQuote(kopecks, rate.rateE4, rate), request_id: request.id };
  });

  /** Unlike any other quote it has a consequence, so the key must be one that pays. */
  async function lock(request: FastifyRequest, reply: FastifyReply, kopecks: bigint) {
    const { caller } = request;
    if (caller.rights && !caller.rights.scopes.includes('pay'))
      return sendError(request, reply, 'insufficient_scope');
    const locking = await lockQuote(deps, caller, kopecks);
    if (locking.outcome === 'refused')
      return sendError(request, reply, locking.code, limitMessage(locking.code, caller));
    const { quote, rate } = locking;
    return {
      ...describeQuote(kopecks, quote.rateE4, rate),
      quote_id: quote.quoteId,
      expires_at: formatInstant(quote.expiresAt),
      request_id: request.id,
    };
  }
}
