import type { Dispatcher } from 'undici';
import type { Clock } from '../../base/clock.ts';
import { undici } from '../../http-client/index.ts';
import { createBodyExcerpt } from './body-excerpt.ts';
import { ConnectError, type ConnectFault, type TlsFacts } from './connect.ts';
import type { Host } from './hosts.ts';

/**
 * `busy`: all connections to the receiver were taken for the whole time, or this machine had none left; nothing was
 * sent, and the receiver is not to blame. `bad_answer`: the answer was not HTTP. `closed`: there was no answer.
 */
export type SendError = ConnectFault | 'bad_answer';

interface Answered {
  outcome: 'answered';
  status: number;
  /** Until the status was there. */
  durationMs: number;
  tls?: TlsFacts;
  /** The beginning of the body, if there is one and the status is no 2xx. */
  body?: string;
}

export type SendResult = Answered | { outcome: 'failed'; error: SendError; durationMs: number };

export interface PostRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** So much of an answer's body is read and ignored to keep the connection; with more it is cheaper to close it. */
const maxIgnoredBytes = 1024;

/** So long the body of a refusal may take; after that the answer counts with what has arrived. */
const maxBodyWaitMs = 1_000;

const notNeeded = new Error('the rest of the answer is not needed');

/** Sends one request as soon as the receiver has a free connection. */
export function post(
  receiver: Host,
  { path, headers, body }: PostRequest,
  { clock, timeoutMs, signal }: { clock: Clock; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<SendResult> {
  const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
  let startedAt = clock.monotonicMs();
  /** Set while the request has a connection. */
  let controller: Dispatcher.DispatchController | undefined;
  /** The outcome is known; the connection may still be busy with the rest of the answer. */
  let isOver = false;
  let hasBegun = false;
  let readBytes = 0;
  /** The answer, while the body of a refusal is awaited and afterwards. */
  let answered: Answered | undefined;
  const excerpt = createBodyExcerpt();
  let cancelBodyWait = () => {};

  const durationMs = () => Math.round(clock.monotonicMs() - startedAt);
  /** Without a controller the request has no connection yet; `onRequestStart` rejects it when it gets one. */
  const hangUp = () => controller?.abort(notNeeded);

  function settle(): void {
    cancelBodyWait();
    if (isOver || !answered) return;
    isOver = true;
    const body = excerpt.text();
    resolve(body === null ? answered : { ...answered, body });
  }

  function fail(error: SendError): void {
    // An error amid the body is none of the answer.
    settle();
    if (isOver) return;
    isOver = true;
    resolve({ outcome: 'failed', error, durationMs: durationMs() });
  }

  // Armed until the last byte of the answer, so that it ends an endless body, too.
  let cancelDeadline = clock.timer(timeoutMs, onDeadline);
  function onDeadline(): void {
    const leftMs = startedAt + timeoutMs - clock.monotonicMs();
    if (leftMs > 0) {
      cancelDeadline = clock.timer(leftMs, onDeadline);
      return;
    }
    fail(leaveQueue() ? 'busy' : 'timeout');
    hangUp();
  }

  function onAbort(): void {
    settle();
    isOver = true;
    reject(signal?.reason);
    leaveQueue();
    hangUp();
  }
  signal?.addEventListener('abort', onAbort);

  function disarm(): void {
    cancelDeadline();
    signal?.removeEventListener('abort', onAbort);
  }

  function leaveQueue(): boolean {
    const wasWaiting = receiver.dequeue(start);
    if (wasWaiting) disarm();
    return wasWaiting;
  }

  function finish(): void {
    disarm();
    receiver.finish();
  }

  const answer: Dispatcher.DispatchHandler = {
    onRequestStart: started => {
      if (isOver) throw notNeeded;
      controller = started;
    },
    onResponseStarted: () => {
      hasBegun = true;
    },
    onResponseStart: (_controller, status, { 'content-length': length }) => {
      if (status < 200) return;
      const { tls } = receiver;
      answered = { outcome: 'answered', status, durationMs: durationMs(), ...(tls ? { tls } : {}) };
      if (status >= 300) {
        cancelBodyWait = clock.timer(maxBodyWaitMs, settle);
        return;
      }
      settle();
      if (Number(length) > maxIgnoredBytes) hangUp();
    },
    onResponseData: (_controller, chunk) => {
      readBytes += chunk.length;
      if (!isOver) excerpt.add(chunk);
      if (excerpt.isFull) settle();
      if (isOver && readBytes > maxIgnoredBytes) hangUp();
    },
    onResponseEnd: () => {
      settle();
      finish();
    },
    onResponseError: (_controller, error) => {
      fail(faultOf(error, hasBegun));
      finish();
    },
  };

  function start(): void {
    // The receiver has its full time, however long the request waited in our queue.
    startedAt = clock.monotonicMs();
    receiver.pool.dispatch({ path, method: 'POST', headers, body }, answer);
  }

  receiver.enqueue(start);
  return promise;
}

function faultOf(error: Error, hasBegun: boolean): SendError {
  if (error instanceof ConnectError) return error.fault;
  return hasBegun || error instanceof undici().errors.HTTPParserError ? 'bad_answer' : 'closed';
}
