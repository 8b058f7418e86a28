import type { JsonValue } from '../base/json.ts';
import { ascending, midRateE4 } from '../base/money.ts';
import type { ExchangeName } from '../base/rate-sources.ts';
import {
  anyPrice,
  entry,
  expectNumber,
  fail,
  list,
  member,
  numberPrice,
  textPrice,
  unixSeconds,
} from './answer-fields.ts';

/** What was read from an answer; without a time, the time of the answer counts. */
export interface Reading {
  midE4: bigint;
  asOfSec?: number;
}

export type Reader = (answer: JsonValue) => Reading;

export const exchanges: Record<ExchangeName, { baseUrl: string; path: string; read: Reader }> = {
  rapira: { baseUrl: 'https://api.rapira.net', path: '/open/market/rates', read: readRapira },
  abcex: {
    baseUrl: 'https://hub.abcex.io',
    path: '/api/v2/exchange/public/orderbook/depth?instrumentCode=USDTRUB',
    read: readAbcex,
  },
  coingecko: {
    baseUrl: 'https://api.coingecko.com',
    path: '/api/v3/simple/price?ids=tether&vs_currencies=rub&include_last_updated_at=true',
    read: readCoinGecko,
  },
  cryptopay: { baseUrl: 'https://pay.crypt.bot', path: '/api/getExchangeRates', read: readCryptoPay },
};

function readRapira(answer: JsonValue): Reading {
  expectNumber(answer, 'code', '0');
  expectNumber(answer, 'isWorking', '1');
  const pair = entry(list(answer, 'data'), { symbol: 'USDT/RUB' });
  return between(numberPrice(pair, 'bidPrice'), numberPrice(pair, 'askPrice'));
}

/** The lists are not trusted to be sorted: the best bid is the highest, the best ask the lowest. */
function readAbcex(answer: JsonValue): Reading {
  const prices = (side: string) =>
    ascending(list(answer, side).map(order => anyPrice(order, 'price', `a price of ${side}`)));
  const bestBid = prices('bid').at(-1) ?? fail('bid is empty');
  const bestAsk = prices('ask').at(0) ?? fail('ask is empty');
  return between(bestBid, bestAsk);
}

function readCoinGecko(answer: JsonValue): Reading {
  const tether = member(answer, 'tether');
  return {
    midE4: midRateE4(numberPrice(tether, 'rub')),
    asOfSec: unixSeconds(tether, 'last_updated_at'),
  };
}

function readCryptoPay(answer: JsonValue): Reading {
  if (member(answer, 'ok') !== true) fail('ok is not true');
  const rate = entry(list(answer, 'result'), { source: 'USDT', target: 'RUB' });
  // Crypto Pay marks rates that are out of date.
  if (rate.get('is_valid') === false) fail('is_valid is false');
  return { midE4: midRateE4(textPrice(rate, 'rate')) };
}

/** The format of a custom feed: `{rate, as_of}`. */
export const readFeed = (answer: JsonValue): Reading => ({
  midE4: midRateE4(anyPrice(answer, 'rate')),
  asOfSec: unixSeconds(answer, 'as_of'),
});

function between(bid: bigint, ask: bigint): Reading {
  return ask < bid ? fail('ask is below bid') : { midE4: midRateE4(bid, ask) };
}
