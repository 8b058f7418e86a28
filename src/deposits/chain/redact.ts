import { BaseError, HttpRequestError, RpcRequestError } from 'viem';
import { AnswerTooLongError, CallTimeoutError } from '../../http-client/index.ts';
import { NodeError } from './node-error.ts';

const tooManyRequests = 429;

export function redact(error: unknown, label: string): NodeError {
  const say = (what: string, isTooMuch = false) => new NodeError(`The ${label} ${what}.`, isTooMuch);
  if (!(error instanceof BaseError)) return say('gave an answer that cannot be read');
  const has = (kind: new (message?: string) => Error) => error.walk(inner => inner instanceof kind) !== null;
  if (has(AnswerTooLongError)) return say('gave an answer that is too large', true);
  if (has(CallTimeoutError)) return say('did not answer in time', true);
  const cause = error.walk(inner => inner instanceof HttpRequestError || inner instanceof RpcRequestError);
  if (cause instanceof RpcRequestError) return say(`refused the request with code ${cause.code}`, true);
  if (cause instanceof HttpRequestError) {
    const { status } = cause;
    if (status === undefined) return say('cannot be reached');
    const isThrottled = status === tooManyRequests;
    return say(`answered with HTTP status ${status}`, status >= 400 && status < 500 && !isThrottled);
  }
  return say('gave an answer that cannot be read');
}
