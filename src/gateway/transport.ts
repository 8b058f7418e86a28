import type { Clock } from '../base/clock.ts';
import { createAgent, readAnswer } from '../http-client/index.ts';
import { type Answer, readObject } from './answers.ts';
import type { Breaker, FailureSource } from './breaker.ts';

export interface GatewayRequest {
  method: 'GET' | 'PUT' | 'POST';
  path: string;
  body?: object;
  /** From the start of the call to the last byte of its answer. */
  timeoutMs: number;
  maxAnswerBytes?: number;
  /** Who may be the cause of a failure once the gateway is connected. */
  source?: FailureSource | undefined;
  traceparent?: string | undefined;
  /** Says nothing about whether payments work: its success must not close the circuit breaker, nor its failure open it. */
  isUncounted?: true;
}

const maxConnections = 256;
const connectTimeoutMs = 5_000;
const defaultMaxAnswerBytes = 64 * 1024;

interface TransportOptions {
  clock: Clock;
  url: string;
  token: string | undefined;
  breaker: Breaker;
}

export type Transport = ReturnType<typeof createTransport>;

/** HTTP to the gateway. Every call counts for the circuit breaker, unless it says otherwise. */
export function createTransport({ clock, url, token, breaker }: TransportOptions) {
  const { agent, isConnectError } = createAgent({ maxConnections, connectTimeoutMs });
  const { origin, pathname } = new URL(url);
  const basePath = pathname.replace(/\/$/, '');
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const headersWithBody = { ...headers, 'content-type': 'application/json' };

  async function send(request: GatewayRequest): Promise<Answer> {
    const { method, path, body, timeoutMs, maxAnswerBytes, traceparent } = request;
    const own = body ? headersWithBody : headers;
    const answer = await readAnswer(
      handler =>
        agent.dispatch(
          {
            ...{ origin, path: `${basePath}${path}`, method },
            headers: traceparent ? { ...own, traceparent } : own,
            body: body ? JSON.stringify(body) : null,
          },
          handler,
        ),
      { clock, timeoutMs, maxBytes: maxAnswerBytes ?? defaultMaxAnswerBytes },
    );
    const text = answer.body.toString();
    return { status: answer.status, body: readObject(text), text };
  }

  return {
    call: async (request: GatewayRequest): Promise<Answer> => {
      try {
        const answer = await send(request);
        if (request.isUncounted) return answer;
        if (answer.status < 500) breaker.onSuccess();
        else breaker.onFailure(request.source, true);
        return answer;
      } catch (error) {
        if (request.isUncounted) throw error;
        breaker.onFailure(request.source, !isConnectError(error));
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

export type List = 'orders' | 'refunds';

export const listPath = (list: List, since: Date, limit: number, cursor?: string | null) =>
  `/${list}?${new URLSearchParams({ since: since.toISOString(), limit: `${limit}`, ...(cursor ? { cursor } : {}) })}`;

export const isTimeout = (error: unknown) =>
  error instanceof Error && /Timeout|Abort/.test(error.name) && !/Connect/.test(error.name);

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  const { code } = error as NodeJS.ErrnoException;
  // The code of a time-out is a number without meaning.
  return typeof code === 'string' ? code : error.name;
}
