import type { FastifyInstance } from 'fastify';
import { formatKopecks, formatMicroUsdt, formatRate, kopecksToMicroUsdt } from '../../base/money.ts';
import { type CurrentRate, isStale, readCurrentRate } from '../../rates/index.ts';
import type { ApiDeps } from '../deps.ts';
import { losslessBody, readAmount } from '../http/body.ts';
import { sendError } from '../http/errors.ts';
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

  server.post('/v1/quote', { schema: schemas.createQuoteOperation }, async (request, reply) => {
    const kopecks = readAmount(losslessBody(request))!;
    const rate = await readCurrentRate(deps.db);
    if (!rate) return sendError(request, reply, 'rate_unavailable');
    return {
      amount_rub: formatKopecks(kopecks),
      amount_usdt: formatMicroUsdt(kopecksToMicroUsdt(kopecks, rate.rateE4)),
      rate: formatRate(rate.rateE4),
      pair: 'USDT/RUB',
      fee_rub: '0.00',
      ...describeFreshness(rate),
      request_id: request.id,
    };
  });
}
