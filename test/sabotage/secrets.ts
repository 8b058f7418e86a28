import type { Sabotage } from './sabotage.ts';

const rotation = { test: 'test/db/rotation.test.ts' };

const chain = { file: 'src/db/audit-chain.ts', test: 'test/db/audit-chain.test.ts' };

/** Guards of the rotation of SECRET_KEY and of the chain of the audit log. */
export const secretSabotages: Sabotage[] = [
  {
    guard: 'each record carries the hash of the one before',
    ...chain,
    pattern: /update\(`\$\{previous\}\\n\$\{record\}`\)/,
    replacement: 'update(record)',
    failingTitle: 'shows a record that was exchanged with its hash',
  },
  {
    guard: 'records without a place in the chain',
    ...chain,
    pattern: /if \(added !== undefined\) return/,
    replacement: 'if (added === null) return',
    failingTitle: 'shows a record that was added',
  },
  {
    guard: 'every process has the new key before it is used',
    file: 'src/db/rotation.ts',
    ...rotation,
    pattern: /if \(processes\.length > 0\) return/,
    replacement: 'if (false) return',
    failingTitle: 'is refused while a process runs that does not have the new key',
  },
  {
    guard: 'processes that report no keys',
    file: 'src/db/rotation.ts',
    ...rotation,
    pattern: /!keyIds\?\.includes\(next\.id\)/,
    replacement: 'keyIds && !keyIds.includes(next.id)',
    failingTitle: 'a version that reports no keys',
  },
  {
    guard: 'row lock between a starting process and a rotation',
    file: 'src/db/secret-key.ts',
    ...rotation,
    pattern: /readKnown\(db, 'FOR SHARE'\)/,
    replacement: 'readKnown(db)',
    failingTitle: 'a process that starts meanwhile waits for it',
  },
  {
    guard: 'an earlier key that is still needed',
    file: 'src/db/secret-key.ts',
    ...rotation,
    pattern: /if \(count === 0\) return keyring/,
    replacement: 'if (count >= 0) return keyring',
    failingTitle: 'the old key taken away while something needs it',
  },
  {
    guard: 'the database says which key seals',
    file: 'src/db/keyring.ts',
    ...rotation,
    pattern: /active: \(\) => active/,
    replacement: 'active: () => keys[0]!',
    failingTitle: 'leaves everything readable before, during and after',
  },
  {
    guard: 'a name is bound to its key',
    file: 'src/db/sealing.ts',
    test: 'test/db/keyring.test.ts',
    pattern: /if \(named\) return named;/,
    replacement: '',
    failingTitle: 'of a later key begin with its id',
  },
];
