import { type KopeckError, RateLimitError, ServiceUnavailableError } from './errors.ts';

const firstPauseMs = 2_000;
const longestPauseMs = 60_000;

/**
 * How long to wait before try number `retry` (1 is the first repeat): from 2 s doubling, up to half as long again by
 * chance so that clients do not come back in step, and never less than the service asked for.
 */
export function pauseMs(retry: number, retryAfterSec: number | undefined, random: () => number): number {
  const growing = Math.min(firstPauseMs * 2 ** (retry - 1), longestPauseMs);
  return Math.max(growing * (1 + random() / 2), (retryAfterSec ?? 0) * 1_000);
}

/** Told to stay away for longer than a request should hang, a caller had better know at once. */
const asksForTooMuch = (retryAfterSec: number | undefined) => (retryAfterSec ?? 0) * 1_000 > longestPauseMs;

export const retryAfterOf = (error: KopeckError) =>
  error instanceof RateLimitError || error instanceof ServiceUnavailableError
    ? error.retryAfterSec
    : undefined;

/**
 * Whether the library itself asks again. 4xx other than 429 never: the request must be fixed. `repeatable` is false of
 * what must not be done twice and has no key to tell a repeat: then only a plain "not now" is asked again.
 */
export function asksAgain(error: KopeckError, repeatable: boolean): boolean {
  if (!error.retryable || asksForTooMuch(retryAfterOf(error))) return false;
  const { status } = error;
  if (status === 429 || status === 503) return true;
  return repeatable && (status === undefined || status >= 500);
}

/** Seconds, or a date. */
export function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}
