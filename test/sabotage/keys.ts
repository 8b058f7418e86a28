import type { Sabotage } from './sabotage.ts';

const opening = {
  file: 'database/functions/payments_open_limited.sql',
  test: 'test/payments/key-limits.test.ts',
};
const rights = { test: 'test/partners/key-rights.test.ts' };
const maximum = { test: 'test/partners/key-maximum.test.ts' };
const api = { test: 'test/api/limited-keys.test.ts' };

/** Guards of keys with limits. */
export const keySabotages: Sabotage[] = [
  {
    guard: 'the daily limit of a key',
    ...opening,
    pattern: /spent \+ next\.amount_kopecks <= next\.most/,
    replacement: 'true',
    failingTitle: 'is not passed by 50 payments at once',
  },
  {
    guard: 'a payment beyond the limit of a key is undone',
    ...opening,
    pattern: /IF verdict = 'opened' THEN RAISE EXCEPTION USING ERRCODE = 'KY001'; END IF;/,
    failingTitle: 'leaves no trace of a payment beyond it',
  },
  {
    guard: 'the sum of a key is read under the lock of its account',
    ...opening,
    pattern: / FOR UPDATE/,
    failingTitle: 'is not passed by 50 payments at once',
  },
  {
    guard: 'only what failed leaves the sum of a key',
    ...opening,
    pattern: / WHERE n\.status <> 'succeeded'/,
    failingTitle: 'counts what failed no more, and what succeeded for the rest of the day',
  },
  {
    guard: 'keys that were rolled share a daily limit',
    file: 'src/partners/roll-key.ts',
    ...rights,
    pattern: /row\.turnover_of \?\? keyId/,
    replacement: 'null',
    failingTitle: 'gives no second daily limit',
  },
  {
    guard: 'payments of limited keys go to their own statement',
    file: 'src/payments/open-statements.ts',
    ...api,
    pattern: /payments\.some\(\(\{ keyLimit \}\) => keyLimit\)/,
    replacement: 'false',
    failingTitle: 'per day hold for 50 payments at once',
  },
  {
    guard: 'the limit of a key per payment',
    file: 'src/payments/create/prepare.ts',
    ...api,
    pattern: /keyLimit !== null && amountKopecks > keyLimit/,
    replacement: 'false',
    failingTitle: 'per payment are exact',
  },
  {
    guard: 'the scopes of a key',
    file: 'src/api/http/authorize.ts',
    ...api,
    pattern: /rights && scope !== 'any' && !rights\.scopes\.includes\(scope\)/,
    replacement: 'false',
    failingTitle: 'is refused by POST /v1/payments',
  },
  {
    guard: 'a cached key expires',
    file: 'src/partners/authenticate.ts',
    ...rights,
    pattern: / \|\| now\.getTime\(\) >= found\.expiresMs/,
    failingTitle: 'is refused like a revoked one from that moment',
  },
  {
    guard: 'the hash of a limited key',
    file: 'src/partners/keys.ts',
    ...rights,
    pattern: /isLimited\(rights\) \? 'limited api keys' : 'api keys'/,
    replacement: "'api keys'",
    failingTitle: 'cannot be widened in the database alone',
  },
  {
    guard: 'active keys of a partner and mode',
    file: 'src/partners/keys.ts',
    ...maximum,
    pattern: /\(await countActiveKeys\(tx, audit\.clock, wanted\)\) >= maxActiveKeys/,
    replacement: 'false',
    failingTitle: 'a partner has at most twenty active keys',
  },
  {
    guard: 'changes of keys a day: creation',
    file: 'src/partners/keys.ts',
    ...maximum,
    pattern: /!\(await takeKeyChange\(tx, audit, wanted\.partnerId\)\)/,
    replacement: 'false',
    failingTitle: 'the keys of a partner change fifty times a day',
  },
  {
    guard: 'changes of keys a day: roll',
    file: 'src/partners/roll-key.ts',
    ...maximum,
    pattern: /!\(await takeKeyChange\(tx, audit, before\.partnerId\)\)/,
    replacement: 'false',
    failingTitle: 'the keys of a partner change fifty times a day',
  },
  {
    guard: 'changes of keys a day: addresses',
    file: 'src/partners/keys.ts',
    ...maximum,
    pattern: /!\(await takeKeyChange\(tx, audit, apiKey\.partnerId\)\)/,
    replacement: 'false',
    failingTitle: 'the keys of a partner change fifty times a day',
  },
  {
    guard: 'changes of a day have a maximum',
    file: 'src/db/daily-changes.ts',
    ...maximum,
    pattern: / OR d\.count < \$3/,
    replacement: ' OR $3 > 0',
    failingTitle: 'the keys of a partner change fifty times a day',
  },
  {
    guard: 'changes of a person a day',
    file: 'src/partners/members.ts',
    test: 'test/portal/daily-changes.test.ts',
    pattern: /isBounded: true/,
    replacement: 'isBounded: false',
    failingTitle: 'a person makes 300 changes a day',
  },
  {
    guard: 'sign-ups of a person a day',
    file: 'src/partners/members.ts',
    test: 'test/bot/team.test.ts',
    pattern: /!\(await takeDailyChange\(tx, audit\.clock, 'sign-ups', audit\.actor\)\)/,
    replacement: 'false',
    failingTitle: 'leaving partners makes',
  },
  {
    guard: 'a rolled key has the addresses of the moment',
    file: 'src/partners/roll-key.ts',
    test: 'test/partners/key-rights.test.ts',
    pattern: /expiresAt: oldEnd \} = before;/,
    replacement: 'expiresAt: oldEnd } = toKey(found);',
    failingTitle: 'takes over the addresses as they are when it happens',
  },
];
