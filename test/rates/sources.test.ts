import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { parseRateSources } from '../../src/base/rate-sources.ts';
import { createRateSources } from '../../src/rates/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { startLocalServer } from '../helpers/local-server.ts';

/** Deadlines take real time. */
const clock = { ...manualClock(), timer: systemClock.timer };
const server = await startLocalServer();
const nowSec = clock.nowMs() / 1_000;
const running = new AbortController().signal;

function sourceOf(text: string) {
  const baseUrls = { rapira: server.url, abcex: server.url, coingecko: server.url, cryptopay: server.url };
  const options = { clock, cryptoPayToken: '1:secret', baseUrls, deadlineMs: 2_000 };
  return createRateSources(parseRateSources(text), options)[0]!;
}

const fetchFrom = (text: string) => sourceOf(text).fetch(running);
const feed = `${server.url}/feed?key=secret`;

const pair = { symbol: 'USDT/RUB', askPrice: 80.12, bidPrice: 80.11, close: 80.11 };
const rapira = { data: [{ symbol: 'BTC/USDT', askPrice: 1, bidPrice: 2 }, pair], code: 0, isWorking: 1 };
const rapiraWith = (changes: object) => ({ ...rapira, data: [{ ...pair, ...changes }] });
const rouble = { is_valid: true, source: 'USDT', target: 'RUB', rate: '80.1' };
const cryptopayWith = (changes: object) => ({ ok: true, result: [{ ...rouble, ...changes }] });

describe('a good answer', () => {
  test('of Rapira: the middle of bid and ask, as of its receipt', async () => {
    server.answerWith(rapira);
    expect(await fetchFrom('rapira')).toEqual({ midE4: 801_150n, asOfMs: clock.nowMs() });
    expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/open/market/rates' });
    expect(server.requests[0]!.headers).toMatchObject({ 'user-agent': 'kopeck' });
  });

  test('of ABCEX: the highest bid and the lowest ask, in whatever order', async () => {
    server.answerWith({
      bid: [{ price: 79.5 }, { price: '80.10' }, { price: 9 }],
      ask: [{ price: 100.5 }, { price: 80.2 }, { price: '80.30' }],
    });
    expect(await fetchFrom('abcex')).toEqual({ midE4: 801_500n, asOfMs: clock.nowMs() });
    expect(server.requests[0]!.url).toBe('/api/v2/exchange/public/orderbook/depth?instrumentCode=USDTRUB');
  });

  test('of CoinGecko: with its own time', async () => {
    server.answerWith({ tether: { rub: 80.1, last_updated_at: nowSec - 40 } });
    expect(await fetchFrom('coingecko')).toEqual({ midE4: 801_000n, asOfMs: (nowSec - 40) * 1_000 });
    expect(server.requests[0]!.url).toBe(
      '/api/v3/simple/price?ids=tether&vs_currencies=rub&include_last_updated_at=true',
    );
  });

  test('of Crypto Pay: asked with the token', async () => {
    server.answerWith({ ok: true, result: [{ ...rouble, source: 'TON', rate: '1' }, rouble] });
    expect(await fetchFrom('cryptopay')).toEqual({ midE4: 801_000n, asOfMs: clock.nowMs() });
    expect(server.requests[0]).toMatchObject({ url: '/api/getExchangeRates' });
    expect(server.requests[0]!.headers).toMatchObject({ 'crypto-pay-api-token': '1:secret' });
  });

  test.each([['"92.50"'], ['92.50']])('of a custom feed: %s', async rate => {
    server.answerWith(`{"rate": ${rate}, "as_of": ${nowSec - 1}}`);
    expect(await fetchFrom(feed)).toEqual({ midE4: 925_000n, asOfMs: (nowSec - 1) * 1_000 });
    expect(server.requests[0]!.url).toBe('/feed?key=secret');
    expect(server.requests[0]!.headers).not.toHaveProperty('crypto-pay-api-token');
  });

  test('is not needed for a fixed rate, which is always fresh', async () => {
    expect(await fetchFrom('fixed:92.50')).toEqual({ midE4: 925_000n, asOfMs: clock.nowMs() });
  });

  test('never passes through a float, and is rounded once and at the end', async () => {
    // Each by itself would be rounded to 80.0000 and 80.0001, and their middle up to 80.0001.
    server.answerWith(
      '{"data":[{"symbol":"USDT/RUB","bidPrice":80.00000000000000001,"askPrice":80.00005}],"code":0,"isWorking":1}',
    );
    expect((await fetchFrom('rapira')).midE4).toBe(800_000n);
    server.answerWith(`{"rate": 80.00004999999999999999999, "as_of": ${nowSec}}`);
    expect((await fetchFrom(feed)).midE4).toBe(800_000n);
    server.answerWith(`{"rate": 80.00005, "as_of": ${nowSec}}`);
    expect((await fetchFrom(feed)).midE4).toBe(800_001n);
  });

  test('a little ahead of our clock counts as of now', async () => {
    server.answerWith({ rate: '92.5', as_of: nowSec + 60 });
    expect((await fetchFrom(feed)).asOfMs).toBe(clock.nowMs());
  });
});

describe('what is missing, of the wrong type or impossible fails the source', () => {
  test.each<[string, unknown, string]>([
    ['rapira', { ...rapira, code: 1 }, 'code is not 0'],
    ['rapira', { ...rapira, code: '0' }, 'code is not 0'],
    ['rapira', { ...rapira, isWorking: 0 }, 'isWorking is not 1'],
    ['rapira', { data: rapira.data, code: 0 }, 'isWorking is missing'],
    ['rapira', { ...rapira, data: {} }, 'data is not a list'],
    ['rapira', { ...rapira, data: [null, { symbol: 'BTC/RUB' }] }, 'there is no USDT/RUB'],
    ['rapira', rapiraWith({ askPrice: undefined }), 'askPrice is missing'],
    ['rapira', rapiraWith({ askPrice: null }), 'askPrice is not a positive decimal'],
    ['rapira', rapiraWith({ askPrice: '80.12' }), 'askPrice is not a positive decimal'],
    ['rapira', rapiraWith({ bidPrice: 0 }), 'bidPrice is not a positive decimal'],
    ['rapira', rapiraWith({ bidPrice: -80 }), 'bidPrice is not a positive decimal'],
    ['rapira', rapiraWith({ bidPrice: 80.13 }), 'ask is below bid'],
    ['rapira', rapiraWith({ askPrice: 1e30 }), 'askPrice is not a positive decimal'],
    ['abcex', { bid: [{ price: 80 }] }, 'ask is missing'],
    ['abcex', { bid: [], ask: [{ price: 80 }] }, 'bid is empty'],
    ['abcex', { bid: [{ price: 80 }], ask: [] }, 'ask is empty'],
    ['abcex', { bid: [{ price: 80 }, {}], ask: [{ price: 81 }] }, 'price is missing'],
    ['abcex', { bid: [80], ask: [81] }, 'price is missing'],
    ['abcex', { bid: [{ price: true }], ask: [{ price: 81 }] }, 'a price of bid is not a positive decimal'],
    ['abcex', { bid: [{ price: 82 }], ask: [{ price: 81 }] }, 'ask is below bid'],
    ['coingecko', {}, 'tether is missing'],
    ['coingecko', { tether: { rub: 80.1 } }, 'last_updated_at is missing'],
    ['coingecko', { tether: { rub: '80.1', last_updated_at: nowSec } }, 'rub is not a positive decimal'],
    ['coingecko', { tether: { rub: 80.1, last_updated_at: nowSec + 61 } }, 'its time is in the future'],
    ['coingecko', { tether: { rub: 80.1, last_updated_at: nowSec + 0.5 } }, 'last_updated_at is not a time'],
    ['cryptopay', { ...cryptopayWith({}), ok: false }, 'ok is not true'],
    ['cryptopay', cryptopayWith({ target: 'USD' }), 'there is no USDT to RUB'],
    ['cryptopay', cryptopayWith({ rate: 80.1 }), 'rate is not a positive decimal'],
    ['cryptopay', cryptopayWith({ is_valid: false }), 'is_valid is false'],
    [feed, { rate: '92.5' }, 'as_of is missing'],
    [feed, { rate: '92,5', as_of: nowSec }, 'rate is not a positive decimal'],
    [feed, { rate: 'NaN', as_of: nowSec }, 'rate is not a positive decimal'],
    [feed, { rate: '0.00001', as_of: nowSec }, 'the price is too small'],
    [feed, { rate: '92.5', as_of: `${nowSec}` }, 'as_of is not a time'],
    [feed, { rate: '92.5', as_of: nowSec * 1_000 }, 'as_of is not a time'],
    [feed, '[]', 'rate is missing'],
    [feed, 'null', 'rate is missing'],
    [feed, '', 'not JSON'],
    [feed, '<html>', 'not JSON'],
    [feed, `{"rate": "92.5", "as_of": ${nowSec}`, 'not JSON'],
  ])('%s: %j', async (source, body, reason) => {
    server.answerWith(body);
    await expect(fetchFrom(source)).rejects.toThrow(reason);
  });
});

describe('only a complete 200 in time counts', () => {
  const source = feed;
  const text = JSON.stringify({ rate: '92.5', as_of: nowSec });

  test.each(['rapira', 'abcex', 'coingecko', 'cryptopay'])('of %s, too', async one => {
    server.answerWith('{}', 500);
    await expect(fetchFrom(one)).rejects.toThrow('answered with HTTP status 500');
  });

  test.each([201, 204, 302, 403, 429, 451, 500, 503])('status %i', async status => {
    server.answerWith(status === 204 ? '' : text, status);
    await expect(fetchFrom(source)).rejects.toThrow(`answered with HTTP status ${status}`);
  });

  test('an answer of more than 1 MiB is dropped', async () => {
    server.answerWith(text + ' '.repeat(1_048_576 - text.length));
    await fetchFrom(source);
    server.answerWith(text + ' '.repeat(1_048_577 - text.length));
    await expect(fetchFrom(source)).rejects.toThrow('answered with more than 1048576 bytes');
  });

  test('a connection that breaks', async () => {
    server.answer((_request, response) => {
      response.writeHead(200, { 'content-length': text.length });
      response.write(text.slice(0, 10), () => response.destroy());
    });
    await expect(fetchFrom(source)).rejects.toThrow();
  });
});

test('an abort ends the call at once, also before it began', async () => {
  const stopping = new AbortController();
  const arrived = new Promise<void>(resolve => server.answer(() => resolve()));
  const fetched = sourceOf('rapira').fetch(stopping.signal);
  await arrived;
  stopping.abort(new Error('stopping'));
  await expect(fetched).rejects.toThrow('stopping');
  await expect(sourceOf('rapira').fetch(stopping.signal)).rejects.toThrow('stopping');
});

test('a refused connection has a reason, too', async () => {
  await expect(fetchFrom('http://127.0.0.1:1/')).rejects.toThrow('ECONNREFUSED');
});
