import type { Sabotage } from './sabotage.ts';

const booking = { file: 'database/functions/payments_refund.sql', test: 'test/payments/refunds.test.ts' };
const table = {
  file: 'database/migrations/0001_schema.sql',
  test: 'test/payments/refunds-kept.test.ts',
};
const reading = { file: 'src/payments/refunds/read-refunds.ts', test: 'test/payments/refunds.test.ts' };

/** Guards of refunds. */
export const refundSabotages: Sabotage[] = [
  {
    guard: 'the feed goes past refunds that cannot be listed',
    file: 'src/webhooks/delivery/feed.ts',
    test: 'test/payments/archive-refunds.test.ts',
    pattern: /LEFT JOIN LATERAL/,
    replacement: 'INNER JOIN LATERAL',
    failingTitle: 'the feed goes on after refunds',
  },
  {
    guard: 'lock of the account of a refund',
    ...booking,
    pattern: / FOR UPDATE/,
    failingTitle: 'never more than was paid',
  },
  {
    guard: 'never more than was paid',
    ...booking,
    pattern: /WHEN before_kopecks \+ next\.amount > paid\.amount_kopecks THEN 'too_much'\n/,
    failingTitle: 'for more than was paid',
  },
  {
    guard: 'a booked refund is known',
    ...booking,
    pattern: /IF FOUND THEN/,
    replacement: 'IF false THEN',
    failingTitle: 'once, if several processes book it',
  },
  {
    guard: 'refunds are of payments that succeeded',
    ...booking,
    pattern: /WHEN paid\.status <> 'succeeded' THEN 'not_paid'\n/,
    failingTitle: 'for a payment that failed',
  },
  {
    guard: 'refunds are computed from the total',
    ...booking,
    pattern: /\* \(before_kopecks \+ next\.amount\), paid\.amount_kopecks\)\n\s+- before_micro_usdt/,
    replacement: '* next.amount, paid.amount_kopecks)',
    failingTitle: 'in parts that add up',
  },
  {
    guard: 'the reference of a refund is free',
    ...booking,
    pattern: /THEN 'reference_taken'/,
    replacement: "THEN 'booked'",
    failingTitle: 'if its reference was used for a top-up',
  },
  {
    guard: 'refunds are never changed',
    ...table,
    pattern: /CREATE TRIGGER refunds_are_append_only BEFORE UPDATE OR DELETE ON refunds/,
    replacement: 'CREATE TRIGGER refunds_are_append_only BEFORE DELETE ON refunds',
    failingTitle: 'rows are never changed',
  },
  {
    guard: 'refunds are of live payments',
    ...table,
    pattern: / CONSTRAINT refunds_are_live CHECK \(mode = 'live'\)/,
    failingTitle: 'rows are never changed',
  },
  {
    guard: 'a revoked refund is not booked',
    file: 'src/payments/refunds/book.ts',
    pattern: /if \(refund\.isRevoked\) verdicts\[index\] = 'revoked';\n\s+else fresh/,
    replacement: 'fresh',
    test: 'test/payments/refunds.test.ts',
    failingTitle: 'but not for one that was revoked',
  },
  {
    guard: 'the alarm of a refund is over once it is booked',
    file: 'src/payments/refunds/book.ts',
    pattern: /\['booked', 'known'\]/,
    replacement: "['booked']",
    test: 'test/payments/refunds.test.ts',
    failingTitle: 'until it is booked, also by a process that died',
  },
  {
    guard: 'a refund waits for its payment',
    ...reading,
    pattern: /\['not_paid_yet', 'failed'\]/,
    replacement: "['failed']",
    failingTitle: 'a refund waits for its payment',
  },
  {
    guard: 'a refund that could not be booked is read again',
    ...reading,
    test: 'test/payments/refunds-kept.test.ts',
    pattern: /\['not_paid_yet', 'failed'\]/,
    replacement: "['not_paid_yet']",
    failingTitle: 'an account that cannot be written now',
  },
  {
    guard: 'refunds from before are left to operators',
    ...reading,
    pattern: /Math\.max\(from\.getTime\(\), fromMs\)/,
    replacement: 'fromMs',
    failingTitle: 'refunds of before they were known',
  },
  {
    guard: 'the end of a payment has no refunds in its event',
    file: 'src/webhooks/delivery/envelope.ts',
    pattern: /paymentObject\(payment, refund\?\.total\)/,
    replacement: 'paymentObject(payment, { kopecks: 1n, microUsdt: 1n })',
    test: 'test/api/refunds.test.ts',
    failingTitle: 'the feed has refunds only',
  },
  {
    guard: 'refund events only for webhooks that ask',
    ...booking,
    pattern: / AND 'payment\.refunded' = ANY \(w\.extra_events\)/,
    test: 'test/api/refunds.test.ts',
    failingTitle: 'a webhook gets refunds only if it asks',
  },
  {
    guard: 'a list of refunds that there was cannot be missing',
    file: 'src/payments/refunds/read-refunds.ts',
    test: 'test/payments/refunds-kept.test.ts',
    pattern: /if \(!read && readTo !== null\) throw refundListIsGone\(\);/,
    failingTitle: 'a gateway without the list is no error',
  },
  {
    guard: 'a broken list of refunds hides no order',
    file: 'src/payments/reconciliation/reconcile.ts',
    test: 'test/payments/refunds-reconcile.test.ts',
    pattern: /if \(!\(error instanceof OperatorError\)\) throw error;/,
    replacement: 'throw error;',
    failingTitle: 'a broken list of refunds does not hide that orders differ',
  },
];
