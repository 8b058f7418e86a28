import type { Id } from '../base/ids.ts';

/** One conversation with the bank side, as it goes on record: bodies and what was made of them, never a header. */
export interface Exchange {
  call: 'resolve' | 'pay' | 'poll' | 'void';
  /** Resolving a code comes before there is a payment. */
  paymentId: Id<'pay'> | undefined;
  /** Of the code, where the call says so: what was resolved is found again when it is paid. */
  qrUrl: string | undefined;
  startedAtMs: number;
  durationMs: number;
  status: number | null;
  /** What the answer was taken for. */
  outcome: string;
  request: string | null;
  response: string | null;
  error: string | null;
}

const mostBytes = 4096;

/**
 * A body as it may be stored: without the token, should the bank side repeat it, without NUL, which PostgreSQL does not
 * store, and not longer than 4 KiB. In this order, so that no cut leaves half of a token behind.
 */
export function storable(text: string, token: string | undefined): string {
  const clean = (token ? text.replaceAll(token, '[token]') : text).replaceAll('\0', '');
  if (clean.length * 3 <= mostBytes) return clean;
  const bytes = Buffer.from(clean);
  if (bytes.length <= mostBytes) return clean;
  // A character that the cut went through is left out whole.
  return `${bytes
    .subarray(0, mostBytes)
    .toString()
    .replace(/\uFFFD$/, '')}…`;
}
