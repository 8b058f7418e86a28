import type { Sabotage } from './sabotage.ts';

const opening = { file: 'database/functions/payments_open.sql' };
const refusal = {
  file: 'database/functions/payment_refusal.sql',
  test: 'test/payments/refused-openings.test.ts',
};
const limits = { ...opening, test: 'test/api/test-mode-limits.test.ts' };
const together = { ...opening, test: 'test/payments/open-together.test.ts' };

/** Guards of the function that opens payments, and of what refuses them before their account is looked at. */
export const openingSabotages: Sabotage[] = [
  {
    guard: 'codes in flight',
    ...limits,
    pattern: /THEN \(o\.scope, o\.qrc_id\) IN \(SELECT r\.scope, r\.qrc_id FROM reserved r\)/,
    replacement: 'THEN true',
    failingTitle: 'is not paid again by the same partner',
  },
  {
    guard: 'codes in flight, of payments that end at once',
    ...together,
    pattern: /AND p\.qrc_id = o\.qrc_id\) IS NULL END/,
    replacement: 'AND p.qrc_id = o.qrc_id) IS NULL OR true END',
    failingTitle: 'a code under way is not paid by a payment that ends at once',
  },
  {
    guard: 'codes of the same batch',
    ...together,
    pattern: / OR \(next\.shares_code AND next\.scope \|\| next\.qrc_id = ANY \(taken\)\)/,
    failingTitle: 'a batch has the verdicts that its payments would have one by one',
  },
  {
    guard: 'the code of a refused payment goes back',
    ...opening,
    test: refusal.test,
    pattern: /DELETE FROM open_payments p USING [^;]*;/,
    failingTitle: 'keeps a payment from being opened',
  },
  {
    guard: 'the daily limit',
    ...limits,
    pattern: /WHEN turnover \+ next\.amount_kopecks > next\.daily_kopecks THEN 'daily_limit_exceeded'/,
    failingTitle: 'counts what is paid and what is under way',
  },
  {
    guard: 'concurrent payments',
    ...limits,
    pattern: /WHEN under_way >= next\.concurrent THEN 'gateway_busy'/,
    failingTitle: 'are as many as the limit',
  },
  {
    guard: 'daily quota of test payments',
    ...opening,
    pattern:
      /WHEN partner_mode = 'test' AND opened_today >= test_payments_per_day THEN 'daily_limit_exceeded'/,
    test: 'test/payments/test-quota.test.ts',
    failingTitle: 'a partner opens as many test payments a day',
  },
  {
    guard: 'age of the rate',
    ...together,
    pattern: /WHEN next\.rate_stale_at < at THEN 'rate_unavailable'/,
    failingTitle: 'a rate that has become stale',
  },
  {
    guard: 'the day of the turnover never goes back',
    ...opening,
    pattern: /CASE WHEN a\.turnover_day < today THEN today ELSE a\.turnover_day END/,
    replacement: 'today',
    test: 'test/payments/turnover.test.ts',
    failingTitle: 'the counter is the sum of the day',
  },
  {
    guard: 'maintenance and recovery are looked at by the opening',
    ...refusal,
    ...opening,
    pattern: /may_stop OR /,
    failingTitle: 'keeps a payment from being opened',
  },
  {
    guard: 'the newest rate is looked at by the opening',
    ...refusal,
    ...opening,
    pattern: /o\.rate_id <> newest_rate OR /,
    failingTitle: 'a payment whose rate is not the newest',
  },
  {
    guard: 'blocked recipients are looked at by the opening',
    ...refusal,
    ...opening,
    pattern: /WHERE b\.recipient IN \(o\.folded_name, o\.folded_id\)/,
    replacement: 'WHERE false',
    failingTitle: 'a recipient blocked by its',
  },
  {
    guard: 'maintenance refuses',
    ...refusal,
    pattern: /WHEN s\.maintenance\n\s+OR /,
    replacement: 'WHEN ',
    failingTitle: 'keeps a payment from being opened',
  },
  {
    guard: 'planned maintenance refuses',
    ...refusal,
    pattern: /\n\s+OR EXISTS \(SELECT FROM maintenance_windows [^\n]*/,
    failingTitle: 'keeps a payment from being opened',
  },
  {
    guard: 'codes of stray orders refuse',
    ...refusal,
    pattern: /o\.qrc_id = code/,
    replacement: 'false',
    failingTitle: 'keeps a payment from being opened',
  },
];
