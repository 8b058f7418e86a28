import type { Sabotage } from './sabotage.ts';

const opening = { file: 'database/functions/payments_open.sql' };
const singly = { file: 'database/functions/payments_open_singly.sql' };

/** Guards of the statements that open payments: together, and one by one. */
export const openingSabotages: Sabotage[] = [
  {
    guard: 'codes in flight, of payments opened together',
    ...opening,
    pattern: /THEN o\.id IN \(SELECT r\.id FROM reserved r\)/,
    replacement: 'THEN true',
    test: 'test/api/test-mode-limits.test.ts',
    failingTitle: 'is not paid again by the same partner',
  },
  {
    guard: 'codes in flight, of payments that end at once',
    ...opening,
    pattern: /AND p\.qrc_id = o\.qrc_id\) IS NULL END/,
    replacement: 'AND p.qrc_id = o.qrc_id) IS NULL OR true END',
    test: 'test/payments/open-together.test.ts',
    failingTitle: 'a code under way is not paid by a payment that ends at once',
  },
  {
    guard: 'daily limit of payments opened together',
    ...opening,
    pattern: /AND \(o\.turnover_kopecks \+ o\.wanted_kopecks <= o\.daily_kopecks\) IS NOT FALSE/,
    test: 'test/api/test-mode-limits.test.ts',
    failingTitle: 'counts what is paid and what is under way',
  },
  {
    guard: 'concurrent payments opened together',
    ...opening,
    pattern: /AND o\.concurrent >= o\.payments \+/,
    replacement: 'AND 1000000 >= o.payments +',
    test: 'test/api/test-mode-limits.test.ts',
    failingTitle: 'are as many as the limit',
  },
  {
    guard: 'daily quota of test payments opened together',
    ...opening,
    pattern: /AND \(o\.mode <> 'test' OR .*? IS NOT FALSE\)/,
    test: 'test/payments/test-quota.test.ts',
    failingTitle: 'a partner opens as many test payments a day',
  },
  {
    guard: 'age of the rate of payments opened together',
    ...opening,
    pattern: / AND o\.rate_stale_at >= at/,
    test: 'test/payments/open-together.test.ts',
    failingTitle: 'a rate that has become stale',
  },
  {
    guard: 'maintenance and recovery, checked by the opening',
    ...opening,
    pattern: /is_stopped OR o\.rate_id/,
    replacement: 'o.rate_id',
    test: 'test/payments/unchecked.test.ts',
    failingTitle: 'keeps an unchecked payment from being opened',
  },
  {
    guard: 'the newest rate, checked by the opening',
    ...opening,
    pattern: /o\.rate_id IS DISTINCT FROM newest_rate OR /,
    test: 'test/payments/unchecked.test.ts',
    failingTitle: 'a newer rate is an objection',
  },
  {
    guard: 'stray orders, checked by the opening',
    ...opening,
    pattern: /\(has_stray_orders AND o\.mode = 'live'\)/,
    replacement: 'false',
    test: 'test/payments/unchecked.test.ts',
    failingTitle: 'keeps an unchecked payment from being opened',
  },
  {
    guard: 'blocked recipients, checked by the opening',
    ...opening,
    pattern: /WHERE b\.recipient IN \(o\.unchecked_name, o\.unchecked_id\)/,
    replacement: 'WHERE false',
    test: 'test/payments/unchecked.test.ts',
    failingTitle: 'a recipient blocked by its',
  },
  {
    guard: 'daily quota of test payments',
    ...singly,
    pattern:
      /WHEN partner_mode = 'test' AND opened_today >= test_payments_per_day THEN 'daily_limit_exceeded'/,
    test: 'test/payments/test-quota.test.ts',
    failingTitle: 'a partner opens as many test payments a day',
  },
  {
    guard: 'the day of the turnover never goes back',
    ...singly,
    pattern: / AND a\.turnover_day <= today/,
    test: 'test/payments/turnover.test.ts',
    failingTitle: 'the counter is the sum of the day',
  },
];
