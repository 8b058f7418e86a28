import type { Dispatcher } from 'undici';

interface AnswerLimits {
  /** From the dispatch to the last byte of the answer, with the time to connect. */
  timeoutMs: number;
  maxBytes: number;
}

class TimeoutError extends Error {
  override name = 'TimeoutError';
}

/**
 * Sends a request and reads its whole answer. The `request` of undici would make a stream, an iterator and an abort signal of
 * it, at three times the cost; a payment has two of these calls.
 */
export const readAnswer = (
  dispatch: (handler: Dispatcher.DispatchHandler) => void,
  { timeoutMs, maxBytes }: AnswerLimits,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let bytes = 0;
    const chunks: Buffer[] = [];

    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
      controller?.abort(error);
    };
    let isTooLate = false;
    const timer = setTimeout(() => {
      isTooLate = true;
      fail(new TimeoutError('the answer took too long'));
    }, timeoutMs);

    dispatch({
      onRequestStart: started => {
        controller = started;
        // It waited for a connection until now.
        if (isTooLate) started.abort(new TimeoutError('the request was not sent in time'));
      },
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) fail(new Error('the answer is too long'));
      },
      onResponseEnd: () => {
        clearTimeout(timer);
        resolve({ status, text: Buffer.concat(chunks).toString() });
      },
      onResponseError: (_, error) => fail(error),
    });
  });
