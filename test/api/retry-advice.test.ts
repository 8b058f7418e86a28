import { expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';

// That answers carry it is checked with each error: `expectError`, and `partnerAt` by the document.

test('errors that the contract calls temporary are retryable, those that need a fix are not', () => {
  const retryable = Object.entries(errors).filter(([, error]) => error.retryable);
  expect(retryable.map(([code, { status }]) => `${status} ${code}`)).toEqual([
    '422 qr_unresolvable',
    '429 rate_limited',
    '500 internal_error',
    '503 rate_unavailable',
    '503 gateway_unavailable',
    '503 gateway_busy',
    '503 maintenance',
  ]);
});

test('a key is given up only where there was none, or where it belongs to another payment', () => {
  const givenUp = Object.entries(errors).filter(([, error]) => !error.same_key);
  expect(givenUp.map(([code]) => code)).toEqual(['missing_idempotency_key', 'idempotency_conflict']);
});
