import { ConnectionError, errorFrom, KopeckError, TimeoutError } from './errors.ts';
import { readRetryAfter, retryAfterOf, retryDelayMs, shouldRetry } from './retries.ts';

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    body?: string;
    redirect: 'manual';
    signal: AbortSignal;
  },
) => Promise<{ status: number; headers: { get(name: string): string | null }; text(): Promise<string> }>;

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

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests, and retries them as section 7 of the contract says: each time the same bytes with the same key. */
export function createTransport(options: TransportOptions) {
  const { apiKey, baseUrl, maxRetries = 5, timeoutMs = 95_000, sleep = sleepFor, now = Date.now } = options;
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be the key of the service, such as svc_test_…');
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  // Called as a plain function: that of a browser refuses to be called as a method of another object.
  const call: Fetch = options.fetch ?? ((url, init) => fetch(url, init));

  /** Sends a request once. Whatever goes wrong is a KopeckError, except that the caller has aborted. */
  async function sendOnce<Answer>(
    url: string,
    request: Pick<Parameters<Fetch>[1], 'method' | 'headers' | 'body'>,
    { idempotencyKey, signal }: RequestOptions,
    read: (text: string) => Answer,
  ): Promise<Answer> {
    signal?.throwIfAborted();
    const end = new AbortController();
    const onAbort = () => end.abort();
    signal?.addEventListener('abort', onAbort);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end.abort();
    }, timeoutMs);
    const unknown = { retryable: true, sameKey: true, idempotencyKey };
    try {
      // Followed, a payment would become a GET, or the key would go to another host.
      const response = await call(url, { ...request, redirect: 'manual', signal: end.signal });
      const { status, headers } = response;
      const text = await response.text();
      const requestId = headers.get('x-request-id') ?? undefined;
      if (status !== 200) {
        const retryAfterSec = readRetryAfter(headers.get('retry-after'), now());
        throw errorFrom({ status, body: parse(text), requestId, idempotencyKey, retryAfterSec });
      }
      try {
        return read(text);
      } catch (cause) {
        const facts = { ...unknown, requestId, cause, code: 'unreadable_answer' };
        throw new ConnectionError('The response cannot be parsed.', facts);
      }
    } catch (cause) {
      if (cause instanceof KopeckError) throw cause;
      signal?.throwIfAborted();
      if (isLate)
        throw new TimeoutError(`No response within ${timeoutMs} ms.`, { ...unknown, cause, code: 'timeout' });
      const message = 'The service could not be reached, or its response was lost.';
      throw new ConnectionError(message, { ...unknown, cause, code: 'connection_failed' });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async function send<Answer>(
    method: string,
    path: string,
    requestOptions: RequestOptions,
    read: (text: string) => Answer,
  ): Promise<Answer> {
    const { query, body, idempotencyKey, signal, repeatable = true } = requestOptions;
    const url = urlOf(base, path, query);
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    for (let retry = 1; ; retry++) {
      try {
        return await sendOnce(url, request, requestOptions, read);
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
    /** The answer's JSON. */
    json: <Answer>(method: 'GET' | 'POST', path: string, requestOptions: RequestOptions = {}) =>
      send(method, path, requestOptions, text => readObject(text) as Answer),
    /** The text that `GET` answers, if it is complete. */
    text: (path: string, isComplete: (text: string) => boolean, requestOptions: RequestOptions = {}) =>
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
