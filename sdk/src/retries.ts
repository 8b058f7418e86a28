import { type KopeckError, TemporaryError } from './errors.ts';

const firstDelayMs = 2_000;
const maxDelayMs = 60_000;

/**
 * The backoff before retry number `retry` (from 1): 2 s, doubled each time, plus up to 50% jitter so that clients do not
 * come back at the same moment, and never less than `Retry-After`.
 */
export function retryDelayMs(retry: number, retryAfterSec?: number): number {
  const growing = Math.min(firstDelayMs * 2 ** (retry - 1), maxDelayMs);
  return Math.max(growing * (1 + Math.random() / 2), (retryAfterSec ?? 0) * 1_000);
}

/** For a longer `Retry-After` than a call should wait, the caller gets the error at once. */
const isTooLong = (retryAfterSec: number | undefined) => (retryAfterSec ?? 0) * 1_000 > maxDelayMs;

export const retryAfterOf = (error: KopeckError) =>
  error instanceof TemporaryError ? error.retryAfterSec : undefined;

/**
 * Whether the library retries. Never after a 4xx other than 429: the request must be fixed. `repeatable` is false for
 * requests that must not be done twice and have no key: then only 429 and 503, which did nothing, are retried.
 */
export function shouldRetry(error: KopeckError, repeatable: boolean): boolean {
  if (!error.retryable || isTooLong(retryAfterOf(error))) return false;
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
