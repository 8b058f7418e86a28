import type { Clock } from '../../base/clock.ts';
import { AnswerTooLongError, CallTimeoutError, callHttp } from '../../http-client/index.ts';
import { NodeError, type NodeFailure } from './node-error.ts';

/** One call of a node. It fails with a `NodeError`, whatever the node does. */
export type Rpc = (method: string, params: unknown[]) => Promise<unknown>;

const timeoutMs = 10_000;
/** Some twelve thousand logs, which take 30 ms to parse. What needs more is asked for in parts. */
const maxAnswerBytes = 8 * 1024 * 1024;
const tooManyRequests = 429;
/** EIP-1474: limit exceeded. Nodes that count results say so; so do some that count requests. */
const limitExceeded = -32_005;

/** `label` names the node in errors: its address may be a secret. */
export function openRpc(clock: Clock, url: string, label: string): Rpc {
  const say = (what: string, failure: NodeFailure = 'failed') =>
    new NodeError(`The ${label} ${what}.`, failure);
  return async (method, params) => {
    const { status, body } = await callHttp({
      ...{ url, method: 'POST', clock, timeoutMs, maxBytes: maxAnswerBytes },
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kopeck' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }).catch(error => {
      if (error instanceof AnswerTooLongError) throw say('gave an answer that is too large', 'too_large');
      if (error instanceof CallTimeoutError) throw say('did not answer in time', 'refused');
      throw say('cannot be reached');
    });
    if (status === tooManyRequests) throw say(`answered with HTTP status ${status}`, 'throttled');
    if (status !== 200)
      throw say(`answered with HTTP status ${status}`, status >= 400 && status < 500 ? 'refused' : 'failed');
    const answer = parse(body);
    if (answer === undefined) throw say('gave an answer that cannot be read');
    if (!answer.error) return answer.result;
    const code = Number(answer.error.code);
    throw say(`refused the request with code ${code}`, code === limitExceeded ? 'too_large' : 'refused');
  };
}

function parse(body: Buffer): { result?: unknown; error?: { code?: unknown } } | undefined {
  try {
    const answer = JSON.parse(body.toString('utf8'));
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}
