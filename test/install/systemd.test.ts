import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSettings } from '../../src/db/secret-files.ts';

const ops = join(import.meta.dirname, '../../ops');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!isInstalled)
  console.warn(
    '\n!!! systemd-analyze is not installed: the test of the unit is SKIPPED. Run .ci/run to install it.\n',
  );

test.runIf(isInstalled)('the unit is hardened: its exposure is below 2.5', () => {
  const { stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', '--no-pager', join(ops, 'systemd/kopeck.service')],
    { encoding: 'utf8' },
  );
  const exposure = /exposure level for kopeck\.service: (\d+\.\d)/.exec(stdout)?.[1];
  expect(Number(exposure), stdout + stderr).toBeLessThan(2.5);
});

test('the settings of the unit can be read, but for its secret files', () => {
  const lines = readFileSync(join(ops, 'kopeck.env'), 'utf8').split('\n');
  const pairs = lines.filter(line => /^\w+=/.test(line)).map(line => line.split('=', 2) as [string, string]);
  const files = pairs.filter(([name]) => name.endsWith('_FILE'));
  expect(files.map(([, path]) => path).every(path => path.startsWith('/etc/kopeck/'))).toBe(true);
  const settings = Object.fromEntries(pairs.filter(([name]) => !name.endsWith('_FILE')));
  const secrets = { SECRET_KEY: 'a secret key for the tests, long enough' };
  expect(loadSettings({ ...settings, ...secrets })).toMatchObject({
    production: true,
    trustProxy: ['127.0.0.1'],
  });
});
