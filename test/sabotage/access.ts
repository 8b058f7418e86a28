import type { Sabotage } from './sabotage.ts';

const signIn = { test: 'test/console/sign-in.test.ts' };
const invitation = { test: 'test/console/setup-link-and-session.test.ts' };
const roles = { test: 'test/console/roles.test.ts' };
const operators = { test: 'test/operators/operators.test.ts' };
const knownClients = { test: 'test/console/known-clients.test.ts' };
const guardFile = { file: 'src/console/guard.ts' };
const sessions = { file: 'src/operators/sessions.ts', ...invitation };

/** Guards of access to the console. */
export const accessSabotages: Sabotage[] = [
  {
    guard: 'an unknown NODE_ENV stops the start',
    file: 'src/base/settings.ts',
    test: 'test/base/settings.test.ts',
    pattern: /oneOf\('NODE_ENV', read\('NODE_ENV'\) \?\? 'development', nodeEnvs\)/,
    replacement: "read('NODE_ENV')",
    failingTitle: 'a bad NODE_ENV',
  },
  {
    guard: 'public addresses of a cloud are no webhook',
    file: 'src/webhooks/http/ssrf-guard.ts',
    test: 'test/webhooks/address.test.ts',
    pattern: / {2}'168\.63\.129\.16\/32', .*\n/,
    failingTitle: 'a service of a cloud',
  },
  {
    guard: 'role of the operator',
    ...guardFile,
    ...roles,
    pattern: /roleHasPermission\(role, config\.needs as Permission\)/,
    replacement: 'true',
    failingTitle: 'viewer may call exactly',
  },
  {
    guard: 'what an operator may do is decided after the body has arrived',
    ...guardFile,
    test: 'test/console/guard.test.ts',
    pattern: /\(await mayStillAct\(deps, request, reply\)\) \? undefined : reply/,
    replacement: 'undefined',
    failingTitle: 'an operator who is disabled while a request arrives',
  },
  {
    guard: 'what an operator may do is decided after a receiver was checked',
    file: 'src/console/partners/connection-routes.ts',
    test: 'test/console/endpoints.test.ts',
    pattern: /mayStillAct: \(\) => mayStillAct\(deps, request, reply\),/,
    failingTitle: 'an operator who is disabled while a receiver is checked',
  },
  {
    guard: 'CSRF token',
    ...guardFile,
    ...roles,
    pattern: /!isCsrfToken\(deps\.keyring, 'console', `\$\{sent\}`, token\)/,
    replacement: 'false',
    failingTitle: 'no change from another origin',
  },
  {
    guard: 'origin of a request',
    ...guardFile,
    ...signIn,
    pattern: /isChange && !isFromOurPage\(deps, request\)/,
    replacement: 'false',
    failingTitle: 'from another origin is refused',
  },
  {
    guard: 'permission declared by every route',
    ...guardFile,
    ...roles,
    pattern: /if \(!route\.config\?\.needs\)/,
    replacement: 'if (false)',
    failingTitle: 'a route without a declared permission',
  },
  {
    guard: 'idle timeout of a session',
    ...sessions,
    pattern: /s\.last_seen_at > \$2/,
    replacement: '$2::timestamptz IS NOT NULL',
    failingTitle: 'ends after half an hour',
  },
  {
    guard: 'absolute timeout of a session',
    ...sessions,
    pattern: /s\.ends_at > \$1/,
    replacement: '$1::timestamptz IS NOT NULL',
    failingTitle: 'ends after twelve hours',
  },
  {
    guard: 'revoked session',
    ...sessions,
    pattern: /const isOpen = `s\.ended_at IS NULL AND /,
    replacement: 'const isOpen = `',
    failingTitle: 'can be seen and revoked',
  },
  {
    guard: 'polling does not extend a session',
    ...sessions,
    pattern: /isUserActivity && clock/,
    replacement: 'clock',
    failingTitle: 'is not kept alive',
  },
  {
    guard: 'TOTP code used once',
    file: 'src/operators/sign-in.ts',
    ...signIn,
    pattern: / AND coalesce\(totp_last_step < \$3, true\)/,
    failingTitle: 'accepts a code once',
  },
  {
    guard: 'setup link used once',
    file: 'src/operators/enrol.ts',
    ...invitation,
    pattern: /, setup_hash = NULL, setup_expires_at = NULL/,
    failingTitle: 'works once: sets password',
  },
  {
    guard: 'lock of sign-in attempts',
    file: 'src/operators/throttle.ts',
    ...signIn,
    pattern: /await tx\.query\(\{ text: `SELECT pg_advisory_xact_lock\(\$\{countingLock\}\)` \}\);/,
    failingTitle: 'concurrent attempts use one database connection',
  },
  {
    guard: 'allowance of a known device',
    file: 'src/operators/throttle.ts',
    ...knownClients,
    pattern: /limits: limitsOf\.device \}/,
    replacement: 'limits: limitsOf.unknown }',
    failingTitle: 'the operator signs in with the known browser',
  },
  {
    guard: 'allowance of a known address',
    file: 'src/operators/throttle.ts',
    ...knownClients,
    pattern: /isKnown \? limitsOf\.knownAddress : /,
    failingTitle: 'the operator signs in from a known address',
  },
  {
    guard: 'known device lost after wrong attempts',
    file: 'src/operators/sign-in.ts',
    ...knownClients,
    pattern: /if \(throttle\.filled\.includes\('device'\)\) .*\n/,
    failingTitle: 'is lost after ten wrong attempts',
  },
  {
    guard: 'known devices revoked with a reset',
    file: 'src/operators/operators.ts',
    ...knownClients,
    pattern: /await forgetAllClients\(tx, operatorId\);/,
    failingTitle: 'is forgotten with the addresses when the operator is reset',
  },
  {
    guard: 'lock of changes to operators',
    file: 'src/operators/operators.ts',
    ...operators,
    pattern: /await tx\.query\(\{ text: 'LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE' \}\);/,
    failingTitle: 'two admins who remove each other',
  },
  {
    guard: 'host of requests to the simulator',
    file: 'simulator/own-requests.ts',
    test: 'test/simulator/own-requests.test.ts',
    pattern: /\|\| !isOwnHost\(host\[0\]!, listensOn\)/,
    failingTitle: 'refuses the host',
  },
  {
    guard: 'origin of requests to the simulator',
    file: 'simulator/own-requests.ts',
    test: 'test/simulator/own-requests.test.ts',
    pattern: /isFromOtherOrigin\(request, host\[0\]!\) && /,
    replacement: 'false && ',
    failingTitle: 'refuses requests of pages of another origin',
  },
];
