import { request } from 'undici';
import { type JsonValue, parseJson } from '../base/json.ts';

const maxBodyBytes = 1_048_576;

export interface Get {
  url: string;
  headers?: Record<string, string>;
  /** From connecting to the last byte of the answer. */
  deadlineMs: number;
}

/** The JSON at a URL. Anything but a complete answer with status 200 in time is an error with a short reason. */
export async function getJson({ url, headers, deadlineMs }: Get, signal: AbortSignal): Promise<JsonValue> {
  signal.throwIfAborted();
  const call = new AbortController();
  const onStop = () => call.abort(signal.reason);
  signal.addEventListener('abort', onStop, { once: true });
  const deadline = setTimeout(
    () => call.abort(new Error(`no whole answer within ${deadlineMs} ms`)),
    deadlineMs,
  ).unref();
  try {
    return parseBody(await getBody(url, headers, call.signal));
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener('abort', onStop);
    // Closes the connection of an answer that was not read to its end; does nothing after a complete one.
    call.abort();
  }
}

async function getBody(
  url: string,
  headers: Record<string, string> | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  // CoinGecko refuses requests without a user agent. Redirects are not followed: undici needs an option for that.
  const answer = await request(url, {
    signal,
    headers: { accept: 'application/json', 'user-agent': 'kopeck', ...headers },
  });
  answer.body.on('error', () => {});
  if (answer.statusCode !== 200) throw new Error(`answered with HTTP status ${answer.statusCode}`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error(`answered with more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseBody(body: Buffer): JsonValue {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new Error('answered with something that is not JSON');
  }
}
