import type { Clock } from '../base/clock.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import { AnswerTooLongError, CallTimeoutError, callHttp } from '../http-client/index.ts';

const maxBodyBytes = 1_048_576;

export interface Get {
  clock: Clock;
  url: string;
  headers?: Record<string, string>;
  /** From connecting to the last byte of the answer. */
  deadlineMs: number;
}

/** The JSON at a URL. Anything but a complete answer with status 200 in time is an error with a short reason. */
export async function getJson(
  { clock, url, headers, deadlineMs }: Get,
  signal: AbortSignal,
): Promise<JsonValue> {
  const { status, body } = await callHttp({
    url,
    // CoinGecko refuses requests without a user agent.
    headers: { accept: 'application/json', 'user-agent': 'kopeck', ...headers },
    clock,
    timeoutMs: deadlineMs,
    maxBytes: maxBodyBytes,
    signal,
  }).catch(error => {
    if (error instanceof CallTimeoutError) throw new Error(`no whole answer within ${deadlineMs} ms`);
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
