import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem';
import { NodeError } from './node-error.ts';

const tooManyRequests = 429;

export function redact(error: unknown, label: string): NodeError {
  const say = (what: string, isTooMuch = false) => new NodeError(`The ${label} ${what}.`, isTooMuch);
  if (!(error instanceof BaseError)) return say('gave an answer that cannot be read');
  const cause = error.walk(
    inner =>
      inner instanceof HttpRequestError ||
      inner instanceof TimeoutError ||
      inner instanceof RpcRequestError ||
      inner instanceof ResponseBodyTooLargeError,
  );
  if (cause instanceof ResponseBodyTooLargeError) return say('gave an answer that is too large', true);
  if (cause instanceof TimeoutError) return say('did not answer in time', true);
  if (cause instanceof RpcRequestError) return say(`refused the request with code ${cause.code}`, true);
  if (cause instanceof HttpRequestError) {
    const { status } = cause;
    if (status === undefined) return say('cannot be reached');
    const isThrottled = status === tooManyRequests;
    return say(`answered with HTTP status ${status}`, status >= 400 && status < 500 && !isThrottled);
  }
  return say('gave an answer that cannot be read');
}
