import type { Sabotage } from './sabotage.ts';

const opening = {
  file: 'database/functions/quote_refusal.sql',
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
    pattern: /IF NOT EXISTS \(SELECT FROM unused_quotes [^;]*; END IF;/,
    failingTitle: 'is used by the payment that is opened with it',
  },
  {
    guard: 'a locked quote is marked as used',
    ...opening,
    file: 'database/functions/payments_open.sql',
    pattern: /UPDATE locked_quotes q SET payment_id = next\.id WHERE q\.id = next\.quote_id;/,
    replacement: 'NULL;',
    failingTitle: 'is used by the payment that is opened with it',
  },
  {
    guard: 'a locked quote stays as it was read until its payment is opened',
    ...opening,
    pattern: /( AND q\.partner_id = partner) FOR UPDATE/,
    replacement: '$1',
    test: expiry.test,
    failingTitle: 'a quote is not ended while an opening with it is under way',
  },
  {
    guard: 'an expired quote is ended by what finds it',
    ...opening,
    ...expiry,
    pattern: /UPDATE locked_quotes q SET expires_at = q\.locked_at [^;]*;/,
    failingTitle: 'an opening that finds its quote expired ends it',
  },
  {
    guard: 'a locked quote expires',
    ...opening,
    pattern: /IF quote\.expires_at <= at THEN/,
    replacement: 'IF false THEN',
    failingTitle: 'holds up to the millisecond before it expires',
  },
  {
    guard: 'a locked quote belongs to a partner',
    ...opening,
    pattern: / AND q\.partner_id = partner/,
    failingTitle: 'of another partner is as unknown as one that never was',
  },
  {
    guard: 'a locked quote belongs to a mode',
    ...opening,
    pattern: /IF quote\.mode <> in_mode THEN RETURN 'quote_mode_mismatch'; END IF;/,
    failingTitle: 'of the other mode is refused',
  },
  {
    guard: 'a locked quote has an amount',
    ...opening,
    pattern: /IF quote\.amount_kopecks <> kopecks THEN RETURN 'quote_amount_mismatch'; END IF;/,
    failingTitle: 'of another amount is refused, to the kopeck',
  },
  {
    guard: 'a payment has the terms of its quote',
    ...opening,
    pattern: /IF quote\.micro_usdt <> usdt OR quote\.rate_e4 <> at_rate_e4 THEN/,
    replacement: 'IF false THEN',
    failingTitle: 'gives no terms but its own',
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
    file: 'database/functions/payment_refusal.sql',
    test: 'test/api/idempotency-concurrent.test.ts',
    pattern: /RETURN CASE WHEN refusal IS NOT NULL AND .*? END;/s,
    replacement: 'RETURN refusal;',
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
