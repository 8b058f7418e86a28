import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { allCommands, examplesOf } from './all-commands.ts';

/** Of all others it is expected that they open the database. A new command that does not is added here. */
const withoutDatabase = [
  // Makes one.
  'start',
  'restore',
  // Read or write backups only.
  'backup list',
  'backup verify',
  'archive-wal',
  'restore-wal',
  // Call a service over HTTP.
  'listen',
  'trigger',
  // Calls an adapter to a bank over HTTP.
  'gateway check',
  // Prints a text.
  'completion',
];
/** They print what they found, not one line. */
const reports = ['doctor', 'drill'];

const paths = allCommands.map(([path]) => path);
const ofDatabase = paths.filter(path => !withoutDatabase.includes(path));
const missingIn = (dataDir: string) =>
  `There is no Kopeck database in ${dataDir}: set DATA_DIR, or run \`kopeck start\` once. Nothing was written.`;

test('the lists name commands that exist', () => {
  expect([...withoutDatabase, ...reports].filter(path => !paths.includes(path))).toEqual([]);
});

describe('in a folder without a database nothing is made, and it is said, by', () => {
  test.each(ofDatabase)('kopeck %s', async path => {
    for (const { args } of await examplesOf(path)) {
      const parent = newFolder();
      const dataDir = join(parent, 'not', 'there');
      const given = args
        .filter(word => word !== '--json')
        // The folders of examples do not exist on this machine.
        .map(word => (word === '/backups' ? join(parent, 'backups') : word));
      if (path === 'drill' && given.includes('--from')) continue;
      const { code, stdout, stderr } = await kopeck({ DATA_DIR: dataDir }, ...given);
      expect(code).toBe(1);
      expect(readdirSync(parent)).toEqual([]);
      if (reports.includes(path)) expect(stdout + stderr).toContain(missingIn(dataDir));
      else expect({ stdout, stderr }).toEqual({ stdout: '', stderr: `${missingIn(dataDir)}\n` });
    }
  });
});
