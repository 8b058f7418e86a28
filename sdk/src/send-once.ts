import { ConnectionError, errorFrom, KopeckError, TimeoutError } from './errors.ts';
import { readRetryAfter } from './retries.ts';

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

export interface PreparedRequest<Answer> {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  idempotencyKey: string | undefined;
  signal: AbortSignal | undefined;
  /** Reads the body of a 200; throws when it is not an answer of the service. */
  read(text: string): Answer;
}

export interface SendOptions {
  fetch: Fetch;
  timeoutMs: number;
  now(): number;
}

/** Sends a request once. Whatever goes wrong is a KopeckError, except that the caller has aborted. */
export async function sendOnce<Answer>(
  request: PreparedRequest<Answer>,
  { fetch, timeoutMs, now }: SendOptions,
): Promise<Answer> {
  const { url, method, headers, body, idempotencyKey, signal } = request;
  signal?.throwIfAborted();
  const end = new AbortController();
  const onAbort = () => end.abort();
  signal?.addEventListener('abort', onAbort);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end.abort();
  }, timeoutMs);
  try {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      // Followed, a payment would become a GET, or the key would go to another host.
      redirect: 'manual',
      signal: end.signal,
    });
    return readAnswer(request, response, await response.text(), now());
  } catch (cause) {
    if (cause instanceof KopeckError) throw cause;
    signal?.throwIfAborted();
    const facts = { retryable: true, sameKey: true, idempotencyKey, cause };
    if (isLate) {
      throw new TimeoutError(`No response within ${timeoutMs} ms.`, { ...facts, code: 'timeout' });
    }
    const message = 'The service could not be reached, or its response was lost.';
    throw new ConnectionError(message, { ...facts, code: 'connection_failed' });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function readAnswer<Answer>(
  { read, idempotencyKey }: PreparedRequest<Answer>,
  { status, headers }: Pick<Awaited<ReturnType<Fetch>>, 'status' | 'headers'>,
  text: string,
  nowMs: number,
): Answer {
  const requestId = headers.get('x-request-id') ?? undefined;
  if (status !== 200) {
    const retryAfterSec = readRetryAfter(headers.get('retry-after'), nowMs);
    throw errorFrom({ status, body: parse(text), requestId, idempotencyKey, retryAfterSec });
  }
  try {
    return read(text);
  } catch (cause) {
    const facts = { retryable: true, sameKey: true, idempotencyKey, requestId, cause };
    throw new ConnectionError('The response cannot be parsed.', { ...facts, code: 'unreadable_answer' });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
