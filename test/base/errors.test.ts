import { expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';
import { words } from '../helpers/words.ts';

test('the table of errors has the 24 codes of the contract, each with its status and a message', () => {
  const codes: Record<number, string[]> = {};
  for (const [code, { status, message }] of Object.entries(errors)) {
    codes[status] = [...(codes[status] ?? []), code].sort();
    expect(message).toMatch(/^[A-Z].+\.$/);
  }
  expect(codes).toEqual({
    400: words(`amount_limit_exceeded amount_mismatch invalid_qr invalid_request missing_idempotency_key
      unsupported_qr unsupported_variable_amount`),
    401: ['unauthorized'],
    402: ['insufficient_balance'],
    403: ['daily_limit_exceeded', 'ip_not_allowed', 'partner_suspended', 'recipient_blocked'],
    404: ['not_found'],
    409: ['duplicate_qr_in_flight', 'idempotency_conflict', 'qr_changed'],
    422: ['qr_unresolvable'],
    429: ['rate_limited'],
    500: ['internal_error'],
    503: ['gateway_busy', 'gateway_unavailable', 'maintenance', 'rate_unavailable'],
  });
});

// That answers carry the advice is checked with each error: `expectError`, and `partnerAt` by the document.

test('errors that the contract calls temporary are retryable, those that need a fix are not', () => {
  const retryable = Object.entries(errors).filter(([, error]) => error.retryable);
  expect(retryable.map(([code]) => code)).toEqual(
    words(`qr_unresolvable rate_limited internal_error rate_unavailable gateway_unavailable gateway_busy
      maintenance`),
  );
});

test('a key is given up only where there was none, or where it belongs to another payment', () => {
  const givenUp = Object.entries(errors).filter(([, error]) => !error.same_key);
  expect(givenUp.map(([code]) => code)).toEqual(['missing_idempotency_key', 'idempotency_conflict']);
});
