import type { Dispatcher } from 'undici';
import type { Clock } from '../base/clock.ts';

/** Every call to another system has both limits. */
export interface CallLimits {
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
