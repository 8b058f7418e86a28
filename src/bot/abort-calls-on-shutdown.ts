import type { Transformer } from 'grammy';
import type { Clock } from '../base/clock.ts';

/** How long a graceful shutdown waits for calls to Telegram that are still open. */
const graceMs = 3_000;

/** Part of graceful shutdown: aborts all API calls a moment after the signal, also those that start later. */
export function abortCallsOnShutdown(clock: Clock, stopping: AbortSignal): Transformer {
  const expired = new AbortController();
  const startGracePeriod = () => clock.timer(graceMs, () => expired.abort());
  stopping.addEventListener('abort', startGracePeriod, { once: true });
  return (call, method, payload, signal) => {
    const either = signal ? AbortSignal.any([signal as AbortSignal, expired.signal]) : expired.signal;
    return call(method, payload, either as typeof signal);
  };
}
