import { expect, test } from 'vitest';
import { storedPath } from '../../src/request-log/stored-path.ts';

test.each([
  ['/v1/payment', '/v1/…'],
  ['/v1/payments/', '/v1/payments/'],
  ['/v1/qr/resolve-all', '/v1/qr/…'],
  ['/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j/refund', '/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j/…'],
  ['/v1/payments?token=secret', '/v1/payments'],
  ['/v1/?key=svc_live_7f3a9c21b0d4_0', '/v1/'],
  [`/v1/svc_live_7f3a9c21b0d4_${'a'.repeat(48)}`, '/v1/…'],
  ['/v1/payments/79161234567', '/v1/payments/…'],
  ['/v1/payments/ivan-petrov', '/v1/payments/…'],
  ['/v1/payments/Ivan', '/v1/payments/…'],
  ['/v1/payments/%D0%98', '/v1/payments/…'],
  ['/v1/payments/a@example.com', '/v1/payments/…'],
  ['/v1/payments/constructor', '/v1/payments/…'],
  ['/v1/a/b/c/d/e/f/g/h/i', '/v1/…/…/…/…/…/…'],
  [`/v1/${'%'.repeat(10_000)}`, '/v1/…'],
])('%s is stored as %s', (url, stored) => {
  expect(storedPath(url)).toBe(stored);
});
