import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSettings } from '../../src/db/secrets/secret-files.ts';

const ops = join(import.meta.dirname, '../../ops');
const isInstalled = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!isInstalled)
  console.warn(
    '\n!!! systemd-analyze is not installed: the test of the unit is SKIPPED. Run .ci/run to install it.\n',
  );

test.runIf(isInstalled).each(['kopeck', 'kopeck-backup'])(
  '%s.service is hardened: its exposure is below 2.5',
  name => {
    const { stdout, stderr } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', join(ops, `systemd/${name}.service`)],
      { encoding: 'utf8' },
    );
    const exposure = /exposure level for [\w-]+\.service: (\d+\.\d)/.exec(stdout)?.[1];
    expect(Number(exposure), stdout + stderr).toBeLessThan(2.5);
  },
);

test.runIf(isInstalled)('the timer of the backup starts once a day', () => {
  const timer = readFileSync(join(ops, 'systemd/kopeck-backup.timer'), 'utf8');
  const at = /^OnCalendar=(.*)$/m.exec(timer)![1]!;
  const { stdout, stderr } = spawnSync('systemd-analyze', ['calendar', '--iterations=2', at], {
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
    encoding: 'utf8',
  });
  const days = Array.from(stdout.matchAll(/(\d{4}-\d{2}-\d{2}) 02:30:00/g), ([, day]) => Date.parse(day!));
  expect(days[1]! - days[0]!, stdout + stderr).toBe(86_400_000);
});

const gigabyte = 2 ** 30;
/** At full load, see bench/README.md. */
const measuredBytes = 0.8 * gigabyte;

const bytesOf = (text: string) => {
  const [, number, unit] = /^(\d+)([MGmg])$/.exec(text)!;
  return Number(number) * (unit!.toLowerCase() === 'g' ? gigabyte : 2 ** 20);
};

test('the unit bounds the memory of the service, and one killed process does not stop the others', () => {
  const unit = readFileSync(join(ops, 'systemd/kopeck.service'), 'utf8');
  const read = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  const [high, max] = [bytesOf(read('MemoryHigh')), bytesOf(read('MemoryMax'))];
  expect(high).toBeGreaterThan(1.5 * measuredBytes);
  expect(max).toBeGreaterThan(high);
  expect([read('MemorySwapMax'), read('OOMPolicy')]).toEqual(['0', 'continue']);
});

test('every container has a limit of memory and no swap; that of the service is the one of the unit', () => {
  const unit = readFileSync(join(ops, 'systemd/kopeck.service'), 'utf8');
  const compose = readFileSync(join(ops, '../compose.yaml'), 'utf8');
  const services = compose
    .split(/^networks:/m)[0]!
    .split(/^ {2}(?=\w+:$)/m)
    .slice(1);
  const limits = services.map(text => [
    text.split(':')[0],
    /mem_limit: (\w+)/.exec(text)?.[1],
    /memswap_limit: (\w+)/.exec(text)?.[1],
  ]);
  expect(limits.map(([name]) => name)).toEqual(['postgres', 'kopeck', 'proxy']);
  for (const [, memory, withSwap] of limits) expect([memory, withSwap]).toEqual([memory ?? 'none', memory]);
  const max = /^MemoryMax=(.*)$/m.exec(unit)![1]!;
  expect(bytesOf(limits[1]![1]!)).toBe(bytesOf(max));
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
