import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newFolder } from '../helpers/folders.ts';

const bin = join(import.meta.dirname, '../../bin');

/** The command as it is installed, with a program that prints what it gets: a script may not have this repository's rights. */
const installed = newFolder();
chmodSync(installed, 0o755);
mkdirSync(join(installed, 'bin'));
copyFileSync(join(bin, 'kopeck-as-service'), join(installed, 'bin/kopeck-as-service'));
writeFileSync(
  join(installed, 'bin/kopeck'),
  '#!/bin/sh\nprintf "%s\\n" "$(id -un)" "$(id -Gn)" "$(umask)" "$@"; printf "%s\\n" "$URL" "$SPACED" "$OTHER"; cat\n',
  { mode: 0o755 },
);
symlinkSync(join(installed, 'bin/kopeck-as-service'), join(installed, 'kopeck'));
const settingsFile = join(installed, 'kopeck.env');

const isRoot = process.getuid!() === 0;
const who = spawnSync('id', ['-un'], { encoding: 'utf8' }).stdout.trim();
const user = isRoot ? 'nobody' : who;

function run(settings: string, args: string[] = [], env: Record<string, string> = {}, input = '') {
  writeFileSync(settingsFile, settings);
  const { status, stdout, stderr } = spawnSync(join(installed, 'kopeck'), args, {
    env: { PATH: process.env.PATH!, KOPECK_ENV_FILE: settingsFile, KOPECK_USER: user, ...env },
    encoding: 'utf8',
    input,
  });
  return { status, lines: stdout.split('\n').slice(0, -1), stderr };
}

describe('kopeck on a node', () => {
  test('has the user, the groups, the umask and the settings of the service; arguments and input are passed on', () => {
    const settings = [
      '# a comment',
      '',
      'URL=https://node.example/?key=$HOME&x=1;y=2#z',
      '  SPACED="two words"  ',
      "OTHER='file'",
    ].join('\n');
    const { status, lines, stderr } = run(
      settings,
      ['payment', 'show', 'two words'],
      { OTHER: 'shell' },
      'typed\n',
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const groups = spawnSync('id', ['-Gn', user], { encoding: 'utf8' }).stdout.trim();
    expect(lines).toEqual([
      ...[user, groups, '0077'],
      ...['payment', 'show', 'two words'],
      ...['https://node.example/?key=$HOME&x=1;y=2#z', 'two words', 'file'],
      'typed',
    ]);
  });

  test.each([
    ['export A=1', 'Line 1 of FILE is not NAME=value: correct it.\n'],
    ['A=1\nB', 'Line 2 of FILE is not NAME=value: correct it.\n'],
    ['1A=1', 'Line 1 of FILE is not NAME=value: correct it.\n'],
    ['=1', 'Line 1 of FILE is not NAME=value: correct it.\n'],
    ['A="1', 'Line 1 of FILE has a quote or backslash in its value: remove it.\n'],
    ['A=1\\', 'Line 1 of FILE has a quote or backslash in its value: remove it.\n'],
  ])('what systemd would read otherwise is refused: %j', (settings, line) => {
    const { status, lines, stderr } = run(settings);
    expect({ status, lines, stderr: stderr.replace(settingsFile, 'FILE') }).toEqual({
      ...{ status: 1, lines: [], stderr: line },
    });
  });

  test('a missing file and a missing user are named', () => {
    expect(run('', [], { KOPECK_ENV_FILE: '/etc/kopeck/none.env' })).toMatchObject({
      status: 1,
      stderr:
        'The settings of the service are not in /etc/kopeck/none.env: put them there, or set KOPECK_ENV_FILE.\n',
    });
    expect(run('', [], { KOPECK_USER: 'no-such-user' })).toMatchObject({
      status: 1,
      stderr: 'There is no user no-such-user: create it as the guide does, or set KOPECK_USER.\n',
    });
  });

  test.runIf(isRoot)('another user than root and that of the service is refused', () => {
    const asNobody = ['--reuid', 'nobody', '--clear-groups', join(installed, 'kopeck')];
    const { status, stderr } = spawnSync('setpriv', asNobody, {
      env: { PATH: process.env.PATH!, KOPECK_ENV_FILE: settingsFile, KOPECK_USER: 'daemon' },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'Only root and daemon may run this: use sudo.\n',
    });
  });
});

const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
if (!hasShellcheck)
  console.warn(
    '\n!!! shellcheck is not installed: the check of the scripts is SKIPPED. Run .ci/run to install it.\n',
  );

test.runIf(hasShellcheck).each(['kopeck', 'kopeck-as-service'])(
  'shellcheck finds nothing in bin/%s',
  name => {
    const { status, stdout } = spawnSync('shellcheck', [join(bin, name)], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  },
);
