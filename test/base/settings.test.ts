import { describe, expect, test } from 'vitest';
import { errors } from '../../src/base/errors.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { readSettings } from '../../src/base/settings.ts';

describe('settings', () => {
  test('all have defaults that work on a laptop', () => {
    expect(readSettings({})).toEqual({
      port: 8080,
      host: '127.0.0.1',
      dataDir: './data',
      databaseUrl: undefined,
      logLevel: 'info',
      secretKey: undefined,
    });
  });

  test('an empty value counts as none', () => {
    expect(readSettings({ PORT: ' ', SECRET_KEY: '' })).toEqual(readSettings({}));
  });

  test.each([
    ['PORT', 'http'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'localhost:5432'],
    ['LOG_LEVEL', 'loud'],
    ['SECRET_KEY', 'short'],
  ])('a bad %s (%s) stops the start with one line that names it', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(OperatorError);
    expect(() => readSettings({ [name]: value })).toThrow(new RegExp(`^${name} [^\\n]*$`));
  });

  test('production needs a SECRET_KEY', () => {
    expect(() => readSettings({ NODE_ENV: 'production' })).toThrow(/^SECRET_KEY must be set in production/);
    const secretKey = 'k'.repeat(32);
    expect(readSettings({ NODE_ENV: 'production', SECRET_KEY: secretKey }).secretKey).toBe(secretKey);
  });

  test('a password is not repeated', () => {
    expect(() => readSettings({ DATABASE_URL: 'mysql://me:hunter2@db/x' })).not.toThrow(/hunter2/);
  });
});

describe('the table of errors', () => {
  test('has the 24 codes of the contract, each with its status and a message', () => {
    const byStatus = Object.groupBy(Object.entries(errors), ([, { status }]) => status);
    const codes = Object.fromEntries(
      Object.entries(byStatus).map(([status, entries]) => [status, entries!.map(([code]) => code).sort()]),
    );
    expect(codes).toEqual({
      400: [
        'amount_limit_exceeded',
        'amount_mismatch',
        'invalid_qr',
        'invalid_request',
        'missing_idempotency_key',
        'unsupported_qr',
        'unsupported_variable_amount',
      ],
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
    for (const { message } of Object.values(errors)) expect(message).toMatch(/^[A-Z].+\.$/);
  });
});
