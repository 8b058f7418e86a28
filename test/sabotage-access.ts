/** A guard, what takes it away, and which test notices. */
export interface Sabotage {
  guard: string;
  file: string;
  /** What is taken out, and what is put there; nothing taken out means that it is added at the end. */
  piece?: RegExp;
  instead?: string;
  test: string;
  noticedBy: string;
}

const signIn = { test: 'test/console/sign-in.test.ts' };
const invitation = { test: 'test/console/invitation-and-session.test.ts' };
const roles = { test: 'test/console/roles.test.ts' };
const operators = { test: 'test/operators/operators.test.ts' };
const guardFile = { file: 'src/console/guard.ts' };
const sessions = { file: 'src/operators/sessions.ts', ...invitation };

/** The guards before the console. */
export const accessSabotages: Sabotage[] = [
  {
    guard: 'the look at the role',
    ...guardFile,
    ...roles,
    piece: /!roleHasPermission\(operator\.role, needs!\)/,
    instead: 'false',
    noticedBy: 'POST /operators',
  },
  {
    guard: 'the token against forged requests',
    ...guardFile,
    ...roles,
    piece: /!isSame\(`\$\{sent\}`, csrfTokenOf\(deps\.secretKey, token\)\)/,
    instead: 'false',
    noticedBy: 'no change from elsewhere',
  },
  {
    guard: 'the look at where a request comes from',
    ...guardFile,
    ...signIn,
    piece: /isChange && !isFromOurPage\(deps, request\)/,
    instead: 'false',
    noticedBy: 'from a page of somebody else',
  },
  {
    guard: 'the routes that must say what they need',
    ...guardFile,
    ...roles,
    piece: /if \(!route\.config\?\.needs\)/,
    instead: 'if (false)',
    noticedBy: 'a route that does not say',
  },
  {
    guard: 'the idle end of a session',
    ...sessions,
    piece: /s\.last_seen_at > \$2/,
    instead: '$2::timestamptz IS NOT NULL',
    noticedBy: 'ends after half an hour',
  },
  {
    guard: 'the absolute end of a session',
    ...sessions,
    piece: /s\.ends_at > \$1/,
    instead: '$1::timestamptz IS NOT NULL',
    noticedBy: 'ends after twelve hours',
  },
  {
    guard: 'the end of a session that was ended',
    ...sessions,
    piece: /const isOpen = `s\.ended_at IS NULL AND /,
    instead: 'const isOpen = `',
    noticedBy: 'can be seen and ended',
  },
  {
    guard: 'the pages that ask by themselves',
    ...sessions,
    piece: /isUserActivity && clock/,
    instead: 'clock',
    noticedBy: 'is not kept alive',
  },
  {
    guard: 'the code that is taken once',
    file: 'src/operators/sign-in.ts',
    ...signIn,
    piece: / AND coalesce\(totp_last_step < \$3, true\)/,
    noticedBy: 'takes a code once',
  },
  {
    guard: 'the link that is used once',
    file: 'src/operators/enrol.ts',
    ...invitation,
    piece: /, setup_hash = NULL, setup_expires_at = NULL/,
    noticedBy: 'lets one person in, once',
  },
  {
    guard: 'the order of those who try to sign in',
    file: 'src/operators/throttle.ts',
    ...signIn,
    piece: /await tx\.query\(\{ text: `SELECT pg_advisory_xact_lock\(\$\{countingLock\}\)` \}\);/,
    noticedBy: 'hears nobody after five failures',
  },
  {
    guard: 'the order of those who change operators',
    file: 'src/operators/operators.ts',
    ...operators,
    piece: /await tx\.query\(\{ text: 'LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE' \}\);/,
    noticedBy: 'two admins who remove each other',
  },
];
