import type { Dispatcher } from 'undici';
import { type Abort, type CallLimits, type HttpAnswer, readAnswer } from './read-answer.ts';
import { undici } from './undici.ts';

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
