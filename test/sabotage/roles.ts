import type { Sabotage } from './sabotage.ts';

const hostile = {
  test: 'test/db/hostile-objects.test.ts',
  failingTitle: 'views, functions, operators and types',
};

/** What the roles of the database may not do. */
export const roleSabotages: Sabotage[] = [
  {
    guard: 'the role of the service cannot delete what is append-only',
    file: 'src/db/privileges.ts',
    pattern: /if \(appendOnly\.includes\(table\)\) return .*/,
    test: 'test/db/roles.test.ts',
    failingTitle: 'cannot change, remove or unlock what is append-only',
  },
  {
    guard: 'no partition of the archive is dropped as one of a log',
    file: 'database/functions/log_table.sql',
    pattern: /WHEN 'gateway_calls', /,
    replacement: "WHEN 'payments_archive', 'gateway_calls', ",
    test: 'test/db/roles.test.ts',
    failingTitle: 'prunes test data and drops partitions of logs only through functions',
  },
  {
    guard: 'functions with the rights of the owner take no other name than that of a log',
    file: 'database/functions/log_table.sql',
    pattern: /ELSE RAISE .*/,
    replacement: 'ELSE RETURN quote_ident(log || suffix);',
    test: hostile.test,
    failingTitle: 'log, functions, operators and types',
  },
  {
    guard: 'functions with the rights of the owner keep their search path',
    file: 'database/functions/prune_test_data.sql',
    pattern: /SET search_path FROM CURRENT /,
    ...hostile,
  },
  {
    guard: 'functions with the rights of the owner look last for temporary tables',
    file: 'src/db/sql-functions.ts',
    pattern: /\$\{pathOf\(schema\)\}, pg_temp/,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the file
    replacement: '${pathOf(schema)}',
    ...hostile,
  },
  {
    guard: 'only the owner writes the chain of the audit log',
    file: 'src/db/privileges.ts',
    pattern: / {2}'audit_chain',\n {2}'audit_unchained',\n/,
    test: 'test/db/audit-chain.test.ts',
    failingTitle: 'goes on whatever the roles of the service and of reports do',
  },
  {
    guard: 'who only reads cannot take the lock of the chain',
    file: 'database/functions/audit_chain_extend.sql',
    pattern: /LOCK TABLE audit_chain IN SHARE ROW EXCLUSIVE MODE/,
    replacement: 'PERFORM pg_advisory_xact_lock(718000021)',
    test: 'test/db/audit-chain.test.ts',
    failingTitle: 'goes on whatever the roles of the service and of reports do',
  },
  {
    guard: 'one process at a time extends the chain',
    file: 'database/functions/audit_chain_extend.sql',
    pattern: /LOCK TABLE .*/,
    test: 'test/db/audit-chain.test.ts',
    failingTitle: 'has every record once, also when many processes extend it at once',
  },
  {
    guard: 'only the owner makes temporary tables',
    file: 'src/db/grants.ts',
    pattern: /\(kind === 'DATABASE' && privilege === 'CONNECT'\)/,
    replacement: "kind === 'DATABASE'",
    test: 'test/db/roles.test.ts',
    failingTitle: 'cannot take more rights: CREATE TEMP TABLE',
  },
  {
    guard: 'kopeck migrate takes back rights that somebody added',
    file: 'src/db/roles.ts',
    pattern: /for \(const text of revokeStatements\(taken\)\) .*/,
    test: 'test/db/differing-rights.test.ts',
    failingTitle: 'are found, and taken back: DELETE on entries',
  },
  {
    guard: 'kopeck doctor finds rights that somebody added',
    file: 'src/db/roles.ts',
    pattern: /\.\.\.additional\.map.*/,
    test: 'test/db/differing-rights.test.ts',
    failingTitle: 'are found, for the administrator to take back: a third role',
  },
  {
    guard: 'kopeck doctor finds what gives a role rights beside its grants',
    file: 'src/db/roles.ts',
    pattern: /\.\.\.\(await listPowers.*/,
    test: 'test/db/differing-rights.test.ts',
    failingTitle: 'are found, for the administrator to take back: membership',
  },
  {
    guard: 'kopeck doctor finds triggers that are disabled',
    file: 'src/db/changed-schema/triggers.ts',
    pattern: /else if \(trigger\.enabled !== .*/,
    test: 'test/db/changed-schema.test.ts',
    failingTitle: 'is found: disabled trigger audit_is_append_only on audit',
  },
  {
    guard: 'kopeck doctor finds foreign functions with the rights of their owner',
    file: 'src/db/changed-schema/index.ts',
    pattern: /\.\.\.\(await findForeignOwners.*/,
    test: 'test/db/changed-schema.test.ts',
    failingTitle: 'is found: foreign function elsewhere.shell',
  },
  {
    guard: 'kopeck doctor finds functions that were changed',
    file: 'src/db/changed-schema/functions.ts',
    pattern: /body === one\.body/,
    replacement: 'body',
    test: 'test/db/changed-schema.test.ts',
    failingTitle: 'is found: changed function refuse_change',
  },
];
