import { JsonNumber, type JsonObject, type JsonValue } from '../base/json.ts';
import { ascending, midRateE4, parsePrice } from '../base/money.ts';
import type { ExchangeName } from '../base/rate-sources.ts';

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

/** What reads a field guesses nothing: one that is missing or of another type is an error that names it. */
function member(value: JsonValue | undefined, name: string): JsonValue {
  const found = value instanceof Map ? value.get(name) : undefined;
  return found === undefined ? fail(`${name} is missing`) : found;
}

function list(value: JsonValue, name: string): JsonValue[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : fail(`${name} is not a list`);
}

/** The first object of a list whose fields have these values. */
function entry(items: JsonValue[], wanted: Record<string, string>): JsonObject {
  const matches = (item: JsonValue): item is JsonObject =>
    item instanceof Map && Object.entries(wanted).every(([key, value]) => item.get(key) === value);
  return items.find(matches) ?? fail(`there is no ${Object.values(wanted).join(' to ')}`);
}

/** The digits of a number, and the text of a text; undefined for other values. */
const numberIn = (value: JsonValue) => (value instanceof JsonNumber ? value.source : undefined);
const textIn = (value: JsonValue) => (typeof value === 'string' ? value : undefined);

function expectNumber(value: JsonValue, name: string, expected: string): void {
  if (numberIn(member(value, name)) !== expected) fail(`${name} is not ${expected}`);
}

const numberPrice = (value: JsonValue, name: string) => price(numberIn(member(value, name)), name);
const textPrice = (value: JsonValue, name: string) => price(textIn(member(value, name)), name);

function anyPrice(value: JsonValue, name: string, shown = name): bigint {
  const found = member(value, name);
  return price(numberIn(found) ?? textIn(found), shown);
}

/** In units of 10^-30, as `parsePrice` returns it. Zero is no price. */
function price(text: string | undefined, name: string): bigint {
  return (text !== undefined && parsePrice(text)) || fail(`${name} is not a positive decimal`);
}

function unixSeconds(value: JsonValue, name: string): number {
  const source = numberIn(member(value, name)) ?? '';
  return /^\d{1,11}$/.test(source) ? Number(source) : fail(`${name} is not a time in whole seconds`);
}

export function fail(reason: string): never {
  throw new Error(reason);
}
