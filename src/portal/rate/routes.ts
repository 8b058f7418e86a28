import Type from 'typebox';
import { instantOf } from '../../base/clock.ts';
import { errors } from '../../base/errors.ts';
import {
  formatKopecks,
  formatMicroUsdt,
  formatRate,
  kopecksToMicroUsdt,
  parseKopecks,
} from '../../base/money.ts';
import { listUsableQuotes, readExposure } from '../../payments/index.ts';
import { chartRates, isStale, partnerRateE4, readCurrentRate } from '../../rates/index.ts';
import { Mode, Rubles, refuse } from '../../web/index.ts';
import { get } from '../route.ts';

const hourMs = 3_600_000;
const quotesShown = 50;

const hours = Type.Integer({ minimum: 1, maximum: 720, default: 24 });
export const showRate = get('/rate', 'money', { query: { hours } }, async (request, deps) => {
  const { clock, rateMaxAgeSec } = deps;
  const db = deps.readsOf(request.member.partner.partnerId);
  const until = instantOf(clock);
  const rate = await readCurrentRate(db);
  const history = await chartRates(db, new Date(until.getTime() - request.query.hours * hourMs), until);
  return {
    now: rate
      ? {
          rate: formatRate(rate.rateE4),
          as_of: rate.asOf.toISOString(),
          max_age_sec: rateMaxAgeSec,
          is_stale: isStale(rate, clock, rateMaxAgeSec),
        }
      : null,
    // Without the mid rate: the spread is for operators.
    history: history.map(({ at, rateE4 }) => ({ at: at.toISOString(), rate: formatRate(rateE4) })),
  };
});

const costOf = (kopecks: bigint, rateE4: bigint) => ({
  amount_usdt: formatMicroUsdt(kopecksToMicroUsdt(kopecks, rateE4)),
  rate: formatRate(rateE4),
});

const query = { amount_rub: Rubles };
export const quoteAmount = get('/quote', 'money', { query }, async (request, deps) => {
  const { clock, rateMaxAgeSec } = deps;
  const { lifetimeSec, spreadBps, maxMicroUsdtOfPartner } = deps.quoteLock;
  const { partnerId, limits } = request.member.partner;
  const kopecks = parseKopecks(request.query.amount_rub);
  if (!kopecks) return refuse(400, 'invalid_request', 'Enter an amount above zero.');
  const rate = await readCurrentRate(deps.readsOf(partnerId));
  if (!rate) {
    const { status, message } = errors.rate_unavailable;
    return refuse(status, 'rate_unavailable', message);
  }
  const canLock = maxMicroUsdtOfPartner > 0n;
  return {
    amount_rub: formatKopecks(kopecks),
    ...costOf(kopecks, rate.rateE4),
    is_stale: isStale(rate, clock, rateMaxAgeSec),
    is_within_limits: kopecks >= limits.minKopecks && kopecks <= limits.maxKopecks,
    // Null: this service locks none.
    locked: canLock
      ? { ...costOf(kopecks, partnerRateE4(rate.rateE4, spreadBps)), lifetime_sec: lifetimeSec }
      : null,
  };
});

/** Those that a payment can still use; those that expire first are at the top. */
export const listQuotes = get('/quotes', 'money', { query: { mode: Mode } }, async (request, deps) => {
  const { clock, quoteLock } = deps;
  const { partnerId } = request.member.partner;
  const account = { partnerId, mode: request.query.mode };
  const db = deps.readsOf(partnerId);
  const quotes = await listUsableQuotes(db, clock, account, quotesShown);
  const { microUsdt } = await readExposure(db, clock, account);
  return {
    data: quotes.map(quote => ({
      quote_id: quote.quoteId,
      amount_rub: formatKopecks(quote.amountKopecks),
      amount_usdt: formatMicroUsdt(quote.microUsdt),
      rate: formatRate(quote.rateE4),
      locked_at: quote.lockedAt.toISOString(),
      expires_at: quote.expiresAt.toISOString(),
    })),
    locked_usdt: formatMicroUsdt(microUsdt),
    max_usdt: formatMicroUsdt(quoteLock.maxMicroUsdtOfPartner),
  };
});

/** The rate, what an amount costs, and the rates that are locked. */
export const rateRoutes = [showRate, quoteAmount, listQuotes];
