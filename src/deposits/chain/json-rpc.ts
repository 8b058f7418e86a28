import { request } from 'undici';
import { NodeError, type NodeFailure } from './node-error.ts';

/** One call of a node. It fails with a `NodeError`, whatever the node does. */
export type Rpc = (method: string, params: unknown[]) => Promise<unknown>;

/** From connecting to the last byte. */
const deadlineMs = 10_000;
/** Some twelve thousand logs, which take 30 ms to parse. What needs more is asked for in parts. */
const maxAnswerBytes = 8 * 1024 * 1024;
const tooManyRequests = 429;
/** EIP-1474: limit exceeded. Nodes that count results say so; so do some that count requests. */
const limitExceeded = -32_005;

class TooLargeError extends Error {}

/** `label` names the node in errors: its address may be a secret. */
export function openRpc(url: string, label: string, { timeoutMs = deadlineMs } = {}): Rpc {
  const say = (what: string, failure: NodeFailure = 'failed') =>
    new NodeError(`The ${label} ${what}.`, failure);
  return async (method, params) => {
    const { status, text } = await post(url, { jsonrpc: '2.0', id: 1, method, params }, timeoutMs).catch(
      error => {
        if (error instanceof TooLargeError) throw say('gave an answer that is too large', 'too_large');
        if (error instanceof Error && error.name === 'TimeoutError')
          throw say('did not answer in time', 'refused');
        throw say('cannot be reached');
      },
    );
    if (status === tooManyRequests) throw say(`answered with HTTP status ${status}`, 'throttled');
    if (status !== 200)
      throw say(`answered with HTTP status ${status}`, status >= 400 && status < 500 ? 'refused' : 'failed');
    const answer = parse(text);
    if (answer === undefined) throw say('gave an answer that cannot be read');
    if (!answer.error) return answer.result;
    const code = Number(answer.error.code);
    throw say(`refused the request with code ${code}`, code === limitExceeded ? 'too_large' : 'refused');
  };
}

function parse(text: string): { result?: unknown; error?: { code?: unknown } } | undefined {
  try {
    const answer = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** Redirects are not followed: undici needs an option for that. */
async function post(url: string, body: object, timeoutMs: number): Promise<{ status: number; text: string }> {
  const answer = await request(url, {
    method: 'POST',
    signal: AbortSignal.timeout(timeoutMs),
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kopeck' },
    body: JSON.stringify(body),
  });
  answer.body.on('error', () => {});
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) throw new TooLargeError();
    chunks.push(chunk);
  }
  return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8') };
}
