import { KopeckError } from './errors.ts';
import { retryAfterOf, retryDelayMs, shouldRetry } from './retries.ts';
import { type Fetch, type SendOptions, sendOnce } from './send-once.ts';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface TransportOptions {
  /** `svc_test_…` or `svc_live_…`. It can spend money: keep it on your server. */
  apiKey: string;
  /** Where the service is, such as `https://pay.example.com`. */
  baseUrl: string;
  /** Instead of the `fetch` of the runtime. */
  fetch?: Fetch | undefined;
  /** How often a request is retried at most; 5 by default, which takes about a minute. */
  maxRetries?: number | undefined;
  /** How long one attempt may take; 95 s by default, since an answer may take 90 s. */
  timeoutMs?: number | undefined;
  sleep?: Sleep | undefined;
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
}

export interface RequestOptions {
  query?: Record<string, string | number | Date | null | undefined>;
  body?: object;
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** False for requests that must not be done twice and have no key. */
  repeatable?: boolean;
}

export interface Transport {
  sleep: Sleep;
  now: () => number;
  /** The answer's JSON. */
  json<Answer>(method: 'GET' | 'POST', path: string, options?: RequestOptions): Promise<Answer>;
  /** The text that `GET` answers, if it is complete. */
  text(path: string, isComplete: (text: string) => boolean, options?: RequestOptions): Promise<string>;
}

/** Sends requests, and retries them as section 7 of the contract says: each time the same bytes with the same key. */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, baseUrl, maxRetries = 5, timeoutMs = 95_000, sleep = sleepFor, now = Date.now } = options;
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be the key of the service, such as svc_test_…');
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  // Called as a plain function: that of a browser refuses to be called as a method of another object.
  const sendOptions: SendOptions = {
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    now,
  };

  async function send<Answer>(
    method: string,
    path: string,
    { query, body, idempotencyKey, signal, repeatable = true }: RequestOptions,
    read: (text: string) => Answer,
  ): Promise<Answer> {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const url = urlOf(base, path, query);
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    const request = { url, method, headers, body: sent, idempotencyKey, signal, read };
    for (let retry = 1; ; retry++) {
      try {
        return await sendOnce(request, sendOptions);
      } catch (error) {
        if (!(error instanceof KopeckError) || retry > maxRetries || !shouldRetry(error, repeatable))
          throw error;
        await sleep(retryDelayMs(retry, retryAfterOf(error)), signal);
        signal?.throwIfAborted();
      }
    }
  }

  return {
    sleep,
    now,
    json: <Answer>(method: string, path: string, requestOptions: RequestOptions = {}) =>
      send(method, path, requestOptions, text => readObject(text) as Answer),
    text: (path, isComplete, requestOptions = {}) =>
      send('GET', path, requestOptions, text => {
        if (!isComplete(text)) throw new Error('the text is incomplete');
        return text;
      }),
  };
}

function urlOf(base: URL, path: string, query: RequestOptions['query'] = {}): string {
  const url = new URL(`v1/${path}`, base);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null)
      url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  return url.href;
}

/** Some proxies answer 200 with their own page. */
function readObject(text: string): object {
  const answer: unknown = JSON.parse(text);
  if (typeof answer !== 'object' || answer === null) throw new Error('not an answer');
  return answer;
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
