import { ConnectionError, errorFrom, KopeckError, TimeoutError } from './errors.ts';
import { asksAgain, pauseMs, readRetryAfter, retryAfterOf } from './retries.ts';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** As much of `fetch` as is used. */
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

export interface TransportOptions {
  /** `svc_test_…` or `svc_live_…`. It spends money: keep it on your server. */
  apiKey: string;
  /** Where the service is, such as `https://pay.example.com`. */
  baseUrl: string;
  /** Another `fetch` than the one of the runtime. */
  fetch?: Fetch | undefined;
  /** How often a request is repeated at the most; 5 unless told otherwise, which takes about a minute. */
  maxRetries?: number | undefined;
  /** How long one try may take; 95 s unless told otherwise, as an answer may take 90. */
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
  /** False of what must not be done twice and has no key. */
  repeatable?: boolean;
}

export interface Transport {
  sleep: Sleep;
  now: () => number;
  /** The answer's JSON. */
  json<Answer>(method: 'GET' | 'POST', path: string, options?: RequestOptions): Promise<Answer>;
  /** The answer as it came, if it came to its end. */
  text(
    method: 'GET',
    path: string,
    isWhole: (text: string) => boolean,
    options?: RequestOptions,
  ): Promise<string>;
}

/** Asks, and asks again as section 7 of the contract says: the same bytes with the same key each time. */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, baseUrl, maxRetries = 5, timeoutMs = 95_000, sleep = sleepFor, now = Date.now } = options;
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey must be the key of the service, such as svc_test_…');
  const base = new URL(baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  // Called as a plain function: that of a browser refuses to be a method of something else.
  const send: Fetch = options.fetch ?? ((url, init) => fetch(url, init));

  async function ask<Answer>(
    method: string,
    path: string,
    { query = {}, body, idempotencyKey, signal, repeatable = true }: RequestOptions,
    read: (text: string) => Answer,
  ): Promise<Answer> {
    const url = new URL(`v1/${path}`, base);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined && value !== null)
        url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    for (let retry = 1; ; retry++) {
      try {
        return await once(url.href, method, headers, sent, idempotencyKey, signal, read);
      } catch (error) {
        if (!(error instanceof KopeckError) || retry > maxRetries || !asksAgain(error, repeatable))
          throw error;
        await sleep(pauseMs(retry, retryAfterOf(error), Math.random), signal);
        signal?.throwIfAborted();
      }
    }
  }

  async function once<Answer>(
    url: string,
    method: string,
    headers: Record<string, string>,
    body: string | undefined,
    idempotencyKey: string | undefined,
    signal: AbortSignal | undefined,
    read: (text: string) => Answer,
  ): Promise<Answer> {
    signal?.throwIfAborted();
    const end = new AbortController();
    const leave = () => end.abort();
    signal?.addEventListener('abort', leave);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end.abort();
    }, timeoutMs);
    const unknown = { retryable: true, sameKey: true, idempotencyKey };
    try {
      const response = await send(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        // Followed, a payment would become a GET, or the key go to somebody else.
        redirect: 'manual',
        signal: end.signal,
      });
      const text = await response.text();
      const requestId = response.headers.get('x-request-id') ?? undefined;
      if (response.status === 200) {
        try {
          return read(text);
        } catch (cause) {
          const message = 'The answer cannot be read.';
          throw new ConnectionError(message, { ...unknown, code: 'unreadable_answer', requestId, cause });
        }
      }
      const retryAfterSec = readRetryAfter(response.headers.get('retry-after'), now());
      const refusal = {
        status: response.status,
        body: parse(text),
        requestId,
        idempotencyKey,
        retryAfterSec,
      };
      throw errorFrom(refusal);
    } catch (cause) {
      if (cause instanceof KopeckError) throw cause;
      signal?.throwIfAborted();
      if (late)
        throw new TimeoutError(`There was no answer within ${timeoutMs} ms.`, {
          ...unknown,
          code: 'timeout',
          cause,
        });
      const message = 'The service could not be reached, or its answer was lost.';
      throw new ConnectionError(message, { ...unknown, code: 'connection_failed', cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  return {
    sleep,
    now,
    json: <Answer>(method: string, path: string, asked: RequestOptions = {}) =>
      ask(method, path, asked, text => readObject(text) as Answer),
    text: (method, path, isWhole, asked = {}) =>
      ask(method, path, asked, text => {
        if (!isWhole(text)) throw new Error('it broke off');
        return text;
      }),
  };
}

/** Some proxies answer 200 with a page of their own. */
function readObject(text: string): object {
  const answer: unknown = JSON.parse(text);
  if (typeof answer !== 'object' || answer === null) throw new Error('not an answer');
  return answer;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}
