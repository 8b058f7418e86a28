import type { Clock } from '../base/clock.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import type { ExchangeName, RateSourceSetting } from '../base/rate-sources.ts';
import { AnswerTooLongError, CallTimeoutError, callHttp, type HttpCall } from '../http-client/index.ts';
import type { Quote, RateSource } from './combine.ts';
import { exchanges, fail, type Reader, type Reading, readFeed } from './exchanges.ts';

export interface SourcesOptions {
  clock: Clock;
  cryptoPayToken?: string | undefined;
  /** Instead of the exchanges' own addresses; for tests and mirrors. */
  baseUrls?: Partial<Record<ExchangeName, string>>;
  deadlineMs?: number;
}

/** From connecting to the last byte of the answer. */
const defaultDeadlineMs = 5_000;
/** Clocks differ a little; with a larger difference the times of a source are worthless. */
const maxAheadMs = 60_000;

export const createRateSources = (settings: RateSourceSetting[], options: SourcesOptions) =>
  settings.map(setting => createSource(setting, options));

function createSource(setting: RateSourceSetting, options: SourcesOptions): RateSource {
  const { name } = setting;
  const { clock, cryptoPayToken, baseUrls = {}, deadlineMs = defaultDeadlineMs } = options;
  switch (setting.kind) {
    case 'fixed':
      return {
        name,
        isSetByOperator: true,
        fetch: async () => ({ midE4: setting.rateE4, asOfMs: clock.nowMs() }),
      };
    case 'feed':
      return httpSource(name, { clock, url: setting.url, timeoutMs: deadlineMs }, readFeed);
    case 'exchange': {
      const { baseUrl, path, read } = exchanges[setting.name];
      const url = `${baseUrls[setting.name] ?? baseUrl}${path}`;
      const withToken = setting.name === 'cryptopay' && cryptoPayToken !== undefined;
      const headers = withToken ? { 'Crypto-Pay-API-Token': cryptoPayToken } : {};
      return httpSource(name, { clock, url, headers, timeoutMs: deadlineMs }, read);
    }
  }
}

function httpSource(name: string, get: Get, read: Reader): RateSource {
  return {
    name,
    fetch: async signal => toQuote(read(await getJson(get, signal)), get.clock.nowMs()),
  };
}

function toQuote({ midE4, asOfSec }: Reading, nowMs: number): Quote {
  if (midE4 <= 0n) fail('the price is too small');
  const asOfMs = asOfSec === undefined ? nowMs : asOfSec * 1_000;
  if (asOfMs > nowMs + maxAheadMs) fail('its time is in the future');
  // A clock that runs ahead must not keep the quote fresh for longer.
  return { midE4, asOfMs: Math.min(asOfMs, nowMs) };
}

const maxBodyBytes = 1_048_576;

type Get = Pick<HttpCall, 'clock' | 'url' | 'headers' | 'timeoutMs'>;

/** The JSON at a URL. Anything but a complete answer with status 200 in time is an error with a short reason. */
async function getJson(get: Get, signal: AbortSignal): Promise<JsonValue> {
  const { status, body } = await callHttp({
    ...get,
    // CoinGecko refuses requests without a user agent.
    headers: { accept: 'application/json', 'user-agent': 'kopeck', ...get.headers },
    maxBytes: maxBodyBytes,
    signal,
  }).catch(error => {
    if (error instanceof CallTimeoutError) throw new Error(`no whole answer within ${get.timeoutMs} ms`);
    if (error instanceof AnswerTooLongError) throw new Error(`answered with more than ${maxBodyBytes} bytes`);
    throw error;
  });
  if (status !== 200) throw new Error(`answered with HTTP status ${status}`);
  return parseBody(body);
}

function parseBody(body: Buffer): JsonValue {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new Error('answered with something that is not JSON');
  }
}
