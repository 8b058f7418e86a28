import type { Sabotage } from './sabotage.ts';

const opening = {
  file: 'database/functions/payments_open_quoted.sql',
  test: 'test/quotes/opening.test.ts',
};
const expiry = { test: 'test/quotes/expiry-races.test.ts' };
const locking = { file: 'database/functions/quotes_lock.sql', test: 'test/quotes/locking.test.ts' };
const api = { test: 'test/quotes/api.test.ts' };

/** Guards of locked quotes. */
export const quoteSabotages: Sabotage[] = [
  {
    guard: 'a locked quote is used once',
    ...opening,
    pattern: /WHEN NOT is_unused THEN 'quote_used'/,
    failingTitle: 'is used by the payment that is opened with it',
  },
  {
    guard: 'a locked quote is marked as used',
    ...opening,
    pattern: /UPDATE locked_quotes q SET payment_id = next\.id WHERE q\.id = quote\.id;/,
    replacement: 'NULL;',
    failingTitle: 'is used by the payment that is opened with it',
  },
  {
    guard: 'a locked quote stays as it was read until its payment is opened',
    ...opening,
    pattern: /( AND q\.partner_id = next\.partner_id) FOR UPDATE/,
    replacement: '$1',
    test: expiry.test,
    failingTitle: 'a quote is not ended while an opening with it is under way',
  },
  {
    guard: 'an expired quote is ended before a request is refused',
    file: 'src/payments/create/prepare.ts',
    ...expiry,
    pattern: /if \(terms === 'quote_expired'\) await endExpired\(.*\);/,
    failingTitle: 'an opening that waits is refused after its repeat was',
  },
  {
    guard: 'an expired quote is ended by the opening that finds it',
    ...opening,
    ...expiry,
    pattern: /IF verdict = 'quote_expired' THEN UPDATE .* END IF;/,
    failingTitle: 'an opening that finds its quote expired ends it',
  },
  {
    guard: 'a locked quote expires',
    ...opening,
    pattern: /WHEN quote\.expires_at <= at THEN 'quote_expired'/,
    failingTitle: 'holds up to the millisecond before it expires',
  },
  {
    guard: 'a locked quote belongs to a partner',
    ...opening,
    pattern: / AND q\.partner_id = next\.partner_id/,
    failingTitle: 'of another partner is as unknown as one that never was',
  },
  {
    guard: 'a locked quote belongs to a mode',
    ...opening,
    pattern: /WHEN quote\.mode <> next\.mode THEN 'quote_mode_mismatch'/,
    failingTitle: 'of the other mode is refused',
  },
  {
    guard: 'a locked quote has an amount',
    ...opening,
    pattern: /WHEN quote\.amount_kopecks <> next\.amount_kopecks THEN 'quote_amount_mismatch'/,
    failingTitle: 'of another amount is refused, to the kopeck',
  },
  {
    guard: 'a payment has the terms of its quote',
    ...opening,
    pattern: /IF \(quote\.rate_e4, quote\.micro_usdt\) IS DISTINCT FROM/,
    replacement: 'IF false AND (quote.rate_e4, quote.micro_usdt) IS DISTINCT FROM',
    failingTitle: 'gives no terms but its own',
  },
  {
    guard: 'a quote does not raise the daily limit of a key',
    ...opening,
    pattern: /IF keys\[next\.nth\] IS NULL THEN/,
    replacement: 'IF true THEN',
    test: 'test/quotes/opening.test.ts',
    failingTitle: 'a locked quote does not raise the daily limit of a key',
  },
  {
    guard: 'payments with a quote go to their own statement',
    file: 'src/payments/open-statements.ts',
    pattern: /payments\.some\(\(\{ quoteId \}\) => quoteId !== undefined\)/,
    replacement: 'false',
    test: opening.test,
    failingTitle: 'is used by the payment that is opened with it',
  },
  {
    guard: 'what a partner may lock',
    ...locking,
    pattern: /WHEN of_account \+ next\.micro_usdt > max_of_partner THEN 'quote_limit_exceeded'/,
    failingTitle: 'of a partner is not passed by 40 quotes at once',
  },
  {
    guard: 'what all partners may lock',
    ...locking,
    pattern: /WHEN next\.mode = 'live' AND of_all \+ .*? THEN 'quote_limit_exceeded'/,
    failingTitle: 'of all partners is not passed by many at once',
  },
  {
    guard: 'two processes do not pass a limit of quotes together',
    ...locking,
    pattern: /PERFORM pg_advisory_xact_lock\(.*?\)\);/,
    failingTitle: 'of a partner is not passed by 40 quotes at once',
  },
  {
    guard: 'a stale rate is not locked',
    ...locking,
    pattern: /WHEN rates_stale_at\[next\.nth\] < at THEN 'rate_unavailable'/,
    failingTitle: 'a rate that has become stale on the way is not locked',
  },
  {
    guard: 'locked quotes end with their history',
    file: 'database/functions/incarnation_begin.sql',
    pattern: /UPDATE locked_quotes SET .*/,
    test: 'test/quotes/lost-history.test.ts',
    failingTitle: 'a quote that a lost payment has used is not used again',
  },
  {
    guard: 'an idempotency key belongs to one quote',
    file: 'src/payments/create/request.ts',
    ...api,
    pattern: /\.\.\.\(request\.quoteId === undefined \? \[\] : \[request\.quoteId\]\),/,
    failingTitle: 'conflicts with another quote',
  },
  {
    guard: 'a refusal looks for the payment of its key again',
    file: 'src/payments/create/prepare.ts',
    test: 'test/api/idempotency-concurrent.test.ts',
    pattern: /opened \? replayable\(deps, opened, stopsNow\) : prepared/,
    replacement: 'prepared',
    failingTitle: 'gets its payment, which was opened since the key was looked up',
  },
  {
    guard: 'only a key that may pay locks a quote',
    file: 'src/api/rates/routes.ts',
    ...api,
    pattern: /caller\.rights && !caller\.rights\.scopes\.includes\('pay'\)/,
    replacement: 'false',
    failingTitle: 'needs a key that may pay',
  },
  {
    guard: 'maintenance stops the locking of quotes',
    file: 'src/payments/quotes/lock-quote.ts',
    ...api,
    pattern: /if \(stops\.isUnderMaintenance \|\| stops\.isRecovering\) return refused\('maintenance'\);/,
    failingTitle: 'refuses what could not be paid',
  },
];
