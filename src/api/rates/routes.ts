import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { formatKopecks, formatMicroUsdt, formatRate, kopecksToMicroUsdt } from '../../base/money.ts';
import { formatInstant, lockQuote } from '../../payments/index.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import type { ApiDeps } from '../deps.ts';
import { losslessBody, readAmount } from '../http/body.ts';
import { sendError } from '../http/errors.ts';
import { limitMessage } from '../limit-message.ts';
import * as schemas from './schemas.ts';

/** The current rate, and a quote for an amount. */
export function rateRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const describeFreshness = (rate: CurrentRate) => ({
    as_of: Math.floor(rate.asOf.getTime() / 1000),
    max_age_sec: deps.rateMaxAgeSec,
    stale: isStale(rate, deps.clock, deps.rateMaxAgeSec),
  });

  server.get('/v1/rate', { schema: schemas.getRateOperation }, async (request, reply) => {
    const rate = await readCurrentRate(deps.db);
    if (!rate) return sendError(request, reply, 'rate_unavailable');
    return {
      pair: 'USDT/RUB',
      rate: formatRate(rate.rateE4),
      ...describeFreshness(rate),
      request_id: request.id,
    };
  });

  const describeQuote = (kopecks: bigint, rateE4: bigint, rate: CurrentRate) => ({
    amount_rub: formatKopecks(kopecks),
    amount_usdt: formatMicroUsdt(kopecksToMicroUsdt(kopecks, rateE4)),
    rate: formatRate(rateE4),
    pair: 'USDT/RUB',
    fee_rub: '0.00',
    ...describeFreshness(rate),
  });

  server.post<{ Body: { lock?: boolean | null } }>(
    '/v1/quote',
    { schema: schemas.createQuoteOperation },
    async (request, reply) => {
      const kopecks = readAmount(losslessBody(request))!;
      if (request.body.lock) return lock(request, reply, kopecks);
      const rate = await readCurrentRate(deps.db);
      if (!rate) return sendError(request, reply, 'rate_unavailable');
      return { ...describeQuote(kopecks, rate.rateE4, rate), request_id: request.id };
    },
  );

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
