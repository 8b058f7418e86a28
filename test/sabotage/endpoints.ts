import type { Sabotage } from './sabotage.ts';

const delivery = { test: 'test/webhooks/endpoints.test.ts' };
const changes = { test: 'test/webhooks/endpoint-changes.test.ts' };
const refunds = { test: 'test/api/refunds.test.ts' };
const signingKeys = {
  file: 'src/webhooks/signing/signing-keys.ts',
  test: 'test/webhooks/signing-keys.test.ts',
};
const proofs = { test: 'test/webhooks/standard-webhooks.test.ts' };
const opening = { file: 'database/functions/payments_open.sql', ...delivery };
const finish = { file: 'database/functions/payments_finish.sql', ...refunds };
const endings = { file: 'database/functions/further_deliveries_end.sql', ...delivery };
const administration = { file: 'src/webhooks/admin/further-endpoints.ts', ...changes };

/** Guards of several endpoints of a partner. */
export const endpointSabotages: Sabotage[] = [
  {
    guard: 'every partner has its own signing key',
    ...proofs,
    file: 'src/webhooks/signing/signing-keys.ts',
    pattern: /kopeck webhooks \$\{partnerId\} /,
    replacement: 'kopeck webhooks ',
    failingTitle: 'an event is proof for the keys of its own partner and mode',
  },
  {
    guard: 'every mode has its own signing key',
    ...proofs,
    file: 'src/webhooks/signing/signing-keys.ts',
    pattern: /(kopeck webhooks \$\{partnerId\}) \$\{mode\}/,
    replacement: '$1',
    failingTitle: 'an event is proof for the keys of its own partner and mode',
  },
  {
    guard: 'a check is signed with the key of test mode',
    ...proofs,
    file: 'src/webhooks/admin/check-partner.ts',
    pattern: /mode: probeMode/,
    replacement: "mode: 'live'",
    failingTitle: 'a check is no proof of a live payment',
  },
  {
    guard: 'an endpoint that support changes is one of the partner',
    file: 'src/webhooks/admin/webhook.ts',
    test: 'test/console/endpoints.test.ts',
    pattern: /w\.partner_id = \$1 AND w/,
    replacement: '$1::uuid IS NOT NULL AND w',
    failingTitle: 'an endpoint of another partner',
  },
  {
    guard: 'the reason of a change is in the audit log',
    file: 'src/db/audit.ts',
    test: 'test/console/endpoints.test.ts',
    pattern: /reason === undefined \? change\.after : \{[^}]*\}/,
    replacement: 'change.after',
    failingTitle: 'one is added, changed',
  },
  {
    guard: 'each endpoint gets each event of a payment that ends when it is opened',
    ...opening,
    pattern: /JOIN further_webhooks w ON w\.partner_id = n\.partner_id AND w\.mode = n\.mode/,
    replacement: 'JOIN further_webhooks w ON false',
    failingTitle: 'gets every event once',
  },
  {
    guard: 'each endpoint gets each event of a payment that is finished',
    ...finish,
    pattern: /JOIN further_webhooks w ON w\.partner_id = n\.partner_id AND w\.mode = n\.mode/,
    replacement: 'JOIN further_webhooks w ON false',
    failingTitle: 'further endpoints get the ends and the refunds',
  },
  {
    guard: 'endpoints get the kinds that they ask for, at the opening',
    ...opening,
    pattern: /'payment\.' \|\| \(SELECT o\.outcome[^;]*;/,
    replacement: 'true;',
    failingTitle: 'gets only the kinds of events',
  },
  {
    guard: 'endpoints get the kinds that they ask for, at the end',
    ...finish,
    pattern: /'payment\.' \|\| \(SELECT h\.status.*/,
    replacement: 'true',
    failingTitle: 'further endpoints get the ends and the refunds',
  },
  {
    guard: 'endpoints get refunds if they ask for them',
    ...refunds,
    file: 'database/functions/payments_refund.sql',
    pattern: / AND 'payment\.refunded' = ANY \(w\.events\)/,
    failingTitle: 'further endpoints get the ends and the refunds',
  },
  {
    guard: 'endpoints get events of their mode',
    ...opening,
    pattern: / AND w\.mode = n\.mode/,
    failingTitle: 'gets no events of the other mode',
  },
  {
    guard: 'an event is sent to an endpoint once',
    ...endings,
    pattern: /DELETE FROM further_deliveries d WHERE/,
    replacement: 'DELETE FROM further_deliveries d WHERE false AND',
    failingTitle: 'gets every event once',
  },
  {
    guard: 'an event under way at one endpoint is not kept from another',
    ...changes,
    file: 'src/webhooks/delivery/due.ts',
    pattern: / AND x\.endpoint_id = d\.endpoint_id/,
    failingTitle: 'a hanging attempt at one endpoint',
  },
  {
    guard: 'fencing of attempts at further endpoints',
    file: 'database/functions/further_deliveries_end.sql',
    pattern: /AND d\.attempts = attempt_nos\[i\] - 1 /,
    test: 'test/webhooks/endpoint-changes.test.ts',
    failingTitle: 'a late result of an earlier attempt at a further endpoint',
  },
  {
    guard: 'three events given up suspend their endpoint',
    ...endings,
    pattern: /in_a_row >= 3/,
    replacement: 'false',
    failingTitle: 'is suspended alone after three events',
  },
  {
    guard: 'the results of a removed endpoint are dropped',
    ...changes,
    file: 'database/functions/further_deliveries_end.sql',
    pattern: /CONTINUE WHEN NOT FOUND;/,
    failingTitle: 'while an attempt is under way',
  },
  {
    guard: 'endpoints change under the lock of the account',
    ...administration,
    file: 'src/webhooks/admin/locks.ts',
    pattern: / ORDER BY mode FOR UPDATE/,
    failingTitle: 'leaves no delivery of a payment that ends at the same moment',
  },
  {
    guard: 'five endpoints, raced',
    ...administration,
    pattern: /await lockAccounts\(tx, partnerId, \[mode\]\);/,
    failingTitle: 'in each mode, however many are added at once',
  },
  {
    guard: 'five endpoints, by the database',
    ...changes,
    file: 'database/migrations/0001_schema.sql',
    pattern: / CONSTRAINT further_webhooks_are_four CHECK \(number BETWEEN 2 AND 5\)/,
    failingTitle: 'by the database itself',
  },
  {
    guard: 'a payment is archived when no endpoint waits for it',
    ...delivery,
    file: 'database/migrations/0001_schema.sql',
    pattern:
      /AND NOT EXISTS \(SELECT FROM events e JOIN further_deliveries d[^;]*?WHERE e\.payment_id = p\.id\)/,
    failingTitle: 'a payment is archived only when no endpoint',
  },
  {
    guard: 'a secret is rotated under the lock of its endpoint',
    file: 'src/webhooks/admin/secrets.ts',
    test: 'test/webhooks/endpoint-races.test.ts',
    pattern: /await lockEndpoint\(tx, partnerId, endpointId\);/,
    failingTitle: 'of two rotations at once one is refused',
  },
  {
    guard: 'only a check of the current URL ends a suspension',
    file: 'src/webhooks/admin/re-enable.ts',
    test: 'test/webhooks/endpoint-races.test.ts',
    pattern: / AND url = \$3/,
    replacement: ' AND $3::text IS NOT NULL',
    failingTitle: 'a check of the URL before does not enable the new one',
  },
  {
    guard: 'signing keys: one broken root does not hide the others',
    ...signingKeys,
    pattern: /root\.isBroken = true;/,
    replacement: 'throw error;',
    failingTitle: 'a root that cannot be decrypted is left out',
  },
  {
    guard: 'signing keys: public keys are cached',
    ...signingKeys,
    pattern: /publicKeys\.set\(name, publicKey\);/,
    failingTitle: 'a public key is derived once',
  },
  {
    guard: 'signing keys: cached by root, partner and mode',
    ...signingKeys,
    pattern: / \$\{receiver\.mode\}`/,
    replacement: '`',
    failingTitle: 'a public key is derived once',
  },
];
