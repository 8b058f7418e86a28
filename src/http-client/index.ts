import type { Agent, buildConnector, Dispatcher } from 'undici';
import type { Clock } from '../base/clock.ts';
import { loadOnUse } from '../base/load-on-use.ts';

export const undici = loadOnUse<typeof import('undici')>('undici');

/**
 * Connections of one client. It remembers the errors of its connections: nothing that was sent is the cause of one that cannot
 * be made.
 */
export function createAgent({
  maxConnections,
  connectTimeoutMs,
}: {
  maxConnections: number;
  connectTimeoutMs: number;
}): { agent: Agent; isConnectError(error: unknown): boolean } {
  const { Agent, buildConnector } = undici();
  const connectErrors = new WeakSet<Error>();
  const connectOnce = buildConnector({ timeout: connectTimeoutMs });
  const connect: buildConnector.connector = (options, done) =>
    connectOnce(options, (...result) => {
      if (result[0]) connectErrors.add(result[0]);
      done(...result);
    });
  return {
    agent: new Agent({ connections: maxConnections, connect }),
    isConnectError: error => error instanceof Error && connectErrors.has(error),
  };
}

/** Every call to another system has both limits. */
interface CallLimits {
  clock: Clock;
  /** From the call to the last byte of its answer, with the time to connect. A pause between two bytes does not count. */
  timeoutMs: number;
  /** The longest body that is read. */
  maxBytes: number;
}

export interface HttpAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** A header that was sent several times, as one line. */
export const headerOf = ({ headers }: Pick<HttpAnswer, 'headers'>, name: string): string | undefined =>
  headers[name] === undefined ? undefined : [headers[name]].flat().join(', ');

/** The part of an abort signal that is used: libraries bring their own. */
export interface Abort {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export class CallTimeoutError extends Error {
  override name = 'TimeoutError';
}

export class AnswerTooLongError extends Error {
  override name = 'AnswerTooLongError';
}

/**
 * Sends a request and reads its whole answer. The `request` of undici would make a stream, an iterator and an abort signal of
 * it, at three times the cost; a payment has two of these calls.
 */
export const readAnswer = (
  dispatch: (handler: Dispatcher.DispatchHandler) => void,
  { clock, timeoutMs, maxBytes }: CallLimits,
  signal?: Abort | null,
): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal));
    let controller: Dispatcher.DispatchController | undefined;
    let answer: Omit<HttpAnswer, 'body'> = { status: 0, headers: {} };
    let bytes = 0;
    const chunks: Buffer[] = [];

    let failure: Error | undefined;
    const fail = (error: Error) => {
      failure ??= error;
      disarm();
      reject(error);
      controller?.abort(error);
    };
    const cancelDeadline = clock.timer(timeoutMs, () =>
      fail(new CallTimeoutError('the answer took too long')),
    );
    // Most calls have no signal, and a payment makes several.
    const onAbort = signal ? () => fail(abortReason(signal)) : undefined;
    if (onAbort) signal!.addEventListener('abort', onAbort);
    const disarm = () => {
      cancelDeadline();
      if (onAbort) signal!.removeEventListener('abort', onAbort);
    };

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: started => {
        controller = started;
        // It waited for a connection until now.
        if (failure) started.abort(failure);
      },
      onResponseStart: (_, status, headers) => {
        answer = { status, headers };
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) fail(new AnswerTooLongError(`the answer has more than ${maxBytes} bytes`));
      },
      onResponseEnd: () => {
        disarm();
        resolve({ ...answer, body: Buffer.concat(chunks) });
      },
      onResponseError: (_, error) => fail(error),
    };
    try {
      dispatch(handler);
    } catch (error) {
      fail(error as Error);
    }
  });

const abortReason = ({ reason }: Abort): Error =>
  reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError');

export interface HttpCall extends CallLimits {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: Dispatcher.DispatchOptions['body'];
  signal?: Abort | null | undefined;
}

/** One call to another system, with its whole answer. Redirects are not followed: undici needs an interceptor for that. */
export function callHttp({ url, method = 'GET', headers, body, signal, ...limits }: HttpCall) {
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: pathname + search, method: method as Dispatcher.HttpMethod };
  return readAnswer(
    handler =>
      undici()
        .getGlobalDispatcher()
        .dispatch({ ...request, headers: headers ?? {}, body: body ?? null }, handler),
    limits,
    signal,
  );
}

/**
 * The `fetch` for libraries that bring a client of their own: the answer that it gives was read to its end. They call it with an
 * address and plain headers.
 */
export const createFetch = (limits: CallLimits): typeof fetch =>
  (async (url: string, { method, headers, body, signal }: Partial<HttpCall> = {}) => {
    const call = { url, method: method ?? 'GET', headers: headers ?? {}, body: body ?? null, signal };
    return toResponse(await callHttp({ ...call, ...limits }));
  }) as typeof fetch;

const withoutBody = [204, 205, 304];

const toResponse = ({ status, headers, body }: HttpAnswer): Response =>
  new Response(withoutBody.includes(status) ? null : new Uint8Array(body), {
    status,
    headers: Object.entries(headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    ),
  });
