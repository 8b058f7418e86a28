import type { Sabotage } from './sabotage.ts';

const guardFile = { file: 'src/portal/guard.ts', test: 'test/portal/isolation.test.ts' };
const signIn = { test: 'test/portal/sign-in.test.ts' };
const links = { file: 'src/partners/portal/links.ts', ...signIn };
const sessions = { file: 'src/partners/portal/sessions.ts', ...signIn };
const otherPerson = { file: 'src/partners/portal/sign-in.ts', test: 'test/portal/other-person.test.ts' };
const initData = { file: 'src/portal/access/init-data.ts', ...signIn };
const isolation = { test: 'test/portal/isolation.test.ts' };
const pages = { test: 'test/portal/pages.test.ts' };

/** Guards of access to the portal. */
export const portalSabotages: Sabotage[] = [
  {
    guard: 'portal: the partner of the request is one of the person',
    ...guardFile,
    pattern: /memberships\.find\(\(\{ partner \}\) => partner\.partnerId === partnerId\)/,
    replacement: 'memberships[0]',
    failingTitle: 'another partner does not exist',
  },
  {
    guard: 'portal: role of the member',
    ...guardFile,
    pattern: /!roleIncludes\(member\.role, allows!\)/,
    replacement: 'false',
    failingTitle: 'viewer may call exactly',
  },
  {
    guard: 'portal: CSRF token',
    ...guardFile,
    pattern: /!isCsrfToken\(deps\.keyring, 'portal', `\$\{sent\}`, token\)/,
    replacement: 'false',
    failingTitle: 'no change from another origin',
  },
  {
    guard: 'portal: origin of a request',
    ...guardFile,
    pattern: /isChange && !isFromOurPage\(deps, request\)/,
    replacement: 'false',
    failingTitle: 'no change from another origin',
  },
  {
    guard: 'portal: a route declares whom it allows',
    ...guardFile,
    pattern: /if \(!allows\) throw/,
    replacement: 'if (false) throw',
    failingTitle: 'a route without a declared role',
  },
  {
    guard: 'portal: routes for members are below their partner',
    ...guardFile,
    pattern: /if \(isForMembers !== isBelow\)/,
    replacement: 'if (false)',
    failingTitle: 'a route without a declared role',
  },
  {
    guard: 'portal: a payment belongs to the partner',
    file: 'src/payments/store.ts',
    ...isolation,
    pattern: /WHERE partner_id = k\.partner_id AND mode = k\.mode AND id = k\.id LIMIT 1/,
    replacement: 'WHERE mode = k.mode AND id = k.id LIMIT 1',
    failingTitle: 'data of another partner',
  },
  {
    guard: 'portal: a key belongs to the partner',
    file: 'src/portal/keys/routes.ts',
    ...isolation,
    pattern: /const keys = await listKeys\(deps\.db, partner\.partnerId\);/,
    replacement:
      "const keys = (await Promise.all((await (await import('../../partners/index.ts')).listPartners(deps.db)).map(one => listKeys(deps.db, one.partnerId)))).flat();",
    failingTitle: 'data of another partner',
  },
  {
    guard: 'portal: live keys are for owners',
    file: 'src/portal/keys/routes.ts',
    ...pages,
    pattern: /mode === 'live' \? 'owner' : 'developer'/,
    replacement: "mode === 'live' ? 'developer' : 'developer'",
    failingTitle: 'a key is shown once',
  },
  {
    guard: 'portal: words that mean partners are no filter',
    file: 'src/portal/payments/search-filter.ts',
    ...pages,
    pattern: /\.filter\(isOwn\)/,
    failingTitle: 'payments are found by',
  },
  {
    guard: 'portal: only facts for partners are in a timeline',
    file: 'src/portal/payments/rows.ts',
    ...pages,
    pattern: /\(kind === 'phase' && shownPhases\.has\(what\)\)/,
    replacement: 'true',
    failingTitle: 'the timeline of a payment',
  },
  {
    guard: 'portal: locked quotes are those of the partner',
    file: 'src/payments/quotes/quote.ts',
    test: 'test/portal/rate-and-qr.test.ts',
    pattern: /AND q\.partner_id = \$2 AND q\.mode = \$3/,
    replacement: 'AND $2::uuid IS NOT NULL AND q.mode = $3',
    failingTitle: 'locked quotes are listed',
  },
  {
    guard: 'portal: a link is used once',
    ...links,
    pattern: /AND used_at IS NULL AND expires_at > \$2/,
    replacement: 'AND expires_at > $2',
    failingTitle: 'a link signs in once',
  },
  {
    guard: 'portal: a link expires',
    ...links,
    pattern: / AND expires_at > \$2 FOR UPDATE/,
    replacement: ' AND $2::timestamptz IS NOT NULL FOR UPDATE',
    failingTitle: 'a link is valid for ten minutes',
  },
  {
    guard: 'portal: a new link replaces the one before',
    ...links,
    pattern: /DELETE FROM portal_links WHERE user_id = \$1 AND used_at IS NULL/,
    replacement: 'DELETE FROM portal_links WHERE user_id = $1 AND false',
    failingTitle: 'a link is valid for ten minutes',
  },
  {
    guard: 'portal: the session of another person is replaced only after a question',
    ...otherPerson,
    pattern: /before\.session\.userId !== arriving\.userId/,
    replacement: 'false',
    failingTitle: 'a link of another person signs in only after a question',
  },
  {
    guard: 'portal: the agreement names the session that it replaces',
    ...otherPerson,
    pattern: /before\.session\.sessionId !== browser\.replaces/,
    replacement: '!browser.replaces',
    failingTitle: 'the agreement names the session',
  },
  {
    guard: 'portal: a replaced session ends',
    ...otherPerson,
    pattern: /await endSession\(.*\);/,
    failingTitle: 'a link of another person signs in only after a question',
  },
  {
    guard: 'portal: an ended session does not show whose it was',
    file: 'src/portal/access/routes.ts',
    test: otherPerson.test,
    pattern: /isOpen \? await identityOf\(deps, session\) : null/,
    replacement: 'await identityOf(deps, session)',
    failingTitle: 'an ended session asks as well',
  },
  {
    guard: 'portal: signed data is used once',
    ...links,
    pattern: /ON CONFLICT \(hash\) DO NOTHING/,
    replacement: 'ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at',
    failingTitle: 'a Mini App signs in',
  },
  {
    guard: 'portal: the signature of Telegram',
    ...initData,
    pattern: /if \(!timingSafeEqual\(sent, expected\)\) return undefined;/,
    failingTitle: 'a Mini App is refused: signed by another bot',
  },
  {
    guard: 'portal: the hash of Telegram covers all fields',
    ...initData,
    pattern: /fields\.delete\('hash'\);/,
    replacement: "fields.delete('hash');\n  fields.delete('signature');",
    failingTitle: 'the hash covers the signature',
  },
  {
    guard: 'portal: the age of signed data',
    ...initData,
    pattern: /if \(!\(ageMs >= -maxAheadMs && ageMs <= maxAgeMs\)\) return undefined;/,
    failingTitle: 'a Mini App is refused: older than ten minutes',
  },
  {
    guard: 'portal: a name has no character that cannot be stored',
    file: 'src/base/label.ts',
    ...signIn,
    pattern: /\.filter\(character => !controls\.test\(character\)\)/,
    failingTitle: 'a name that Telegram has signed can be stored',
  },
  {
    guard: 'portal: idle timeout of a session',
    ...sessions,
    pattern: /last_seen_at > \$2'/,
    replacement: "$2::timestamptz IS NOT NULL'",
    failingTitle: 'a session ends after half an hour',
  },
  {
    guard: 'portal: absolute timeout of a session',
    ...sessions,
    pattern: /ends_at > \$1 AND/,
    replacement: '$1::timestamptz IS NOT NULL AND',
    failingTitle: 'a session ends after twelve hours',
  },
  {
    guard: 'portal: a person ends only their own sessions',
    ...sessions,
    pattern: /WHERE id = \$1 AND user_id = \$2 AND/,
    replacement: 'WHERE id = $1 AND $2::bigint IS NOT NULL AND',
    failingTitle: 'a session ends after twelve hours',
  },
  {
    guard: 'portal: what is allowed is decided after the body has arrived',
    file: 'src/portal/guard.ts',
    test: 'test/portal/late-changes.test.ts',
    pattern: /\(await mayStillAct\(deps, request, reply\)\) \? undefined : reply/,
    replacement: 'true ? undefined : reply',
    failingTitle: 'a member who is removed while a request arrives',
  },
];
