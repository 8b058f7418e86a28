import { expect, test } from 'vitest';
import { storedPath } from '../../src/request-log/stored-path.ts';

test.each([
  ['/v1/payment', '/v1/payment'],
  ['/v1/payments/', '/v1/payments/'],
  ['/v1/qr_codes/resolve-all', '/v1/qr_codes/resolve-all'],
  [
    '/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j/refund',
    '/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j/refund',
  ],
  ['/v1/payments?token=secret', '/v1/payments'],
  ['/v1/?key=svc_live_7f3a9c21b0d4_0', '/v1/'],
  [`/v1/svc_live_7f3a9c21b0d4_${'a'.repeat(48)}`, '/v1/…'],
  ['/v1/phones/79161234567', '/v1/phones/…'],
  ['/v1/people/Ivan', '/v1/people/…'],
  ['/v1/people/%D0%98', '/v1/people/…'],
  ['/v1/mail/a@example.com', '/v1/mail/…'],
  [`/v1/${'a'.repeat(25)}`, '/v1/…'],
  ['/v1/a/b/c/d/e/f/g/h/i', '/v1/a/b/c/d/e/f'],
  [`/v1/${'%'.repeat(10_000)}`, '/v1/…'],
])('%s is stored as %s', (url, stored) => {
  expect(storedPath(url)).toBe(stored);
});
