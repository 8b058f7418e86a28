import type { Transformer } from 'grammy';

/** Who stops waits no longer than this for what Telegram is still to answer. */
const lastWaitMs = 3_000;

/** Ends all calls that are still under way a little after the signal, and lets no more begin. */
export function leaving(stopping: AbortSignal): Transformer {
  const over = new AbortController();
  const hurry = () => AbortSignal.timeout(lastWaitMs).addEventListener('abort', () => over.abort());
  stopping.addEventListener('abort', hurry, { once: true });
  return (call, method, payload, signal) => {
    const either = signal ? AbortSignal.any([signal as AbortSignal, over.signal]) : over.signal;
    return call(method, payload, either as typeof signal);
  };
}
