import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adapterToken, payableLink, startAdapter } from '../gateway/adapter.ts';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { startSimulator } from '../helpers/simulator.ts';

const env = { GATEWAY_TOKEN: adapterToken };

test('the simulator passes, with the token in the environment', async () => {
  const { address } = await startSimulator(env);
  const { code, stdout } = await kopeck(env, `gateway check ${address} --qr`, payableLink, '--pay');
  expect(stdout).toMatch(/^check +result +ms +found\n/);
  expect(stdout).toMatch(/^paying after void +passed/m);
  expect(stdout).toMatch(/ passed, 0 failed, 0 skipped\. Orders placed: \d, of 10\.00 RUB each\.\n$/);
  expect(code).toBe(0);
});

test('without --pay nothing is placed, and it is said how to go on', async () => {
  const { url } = await startAdapter();
  const tokenFile = join(newFolder(), 'token');
  writeFileSync(tokenFile, `${adapterToken}\n`);
  const { code, stdout } = await kopeck({}, `gateway check ${url} --token-file`, tokenFile);
  expect(stdout).toMatch(/^paying +skipped +needs --qr$/m);
  expect(stdout).toMatch(
    /No order was placed\.\nTo test payments, .* test stand and add --qr LINK --pay\.\n$/,
  );
  expect(code).toBe(0);
});

test('a mistake is shown with the rule, for people and for programs', async () => {
  const { url } = await startAdapter('voids not stored');
  const run = (...more: string[]) => kopeck(env, `gateway check ${url} --qr`, payableLink, '--pay', ...more);
  const text = await run();
  expect(text.stdout).toMatch(
    /^paying after void +FAILED +\d+ +the PUT was 200 with state succeeded: it may be paid twice$/m,
  );
  expect(text.stdout).toContain(
    'What the contract says:\n  paying after void: A PUT of a voided id is rejected',
  );
  expect(text.code).toBe(1);
  const json = await run('--json');
  expect(json.code).toBe(1);
  const { checks, ...summary } = JSON.parse(json.stdout);
  const expected = { url, passed: false, wrongly_accepted: 1, amount_kopecks: 1_000 };
  expect(summary).toEqual({ ...expected, orders: expect.any(Number) });
  expect(checks.filter((check: { outcome: string }) => check.outcome === 'failed')).toEqual([
    {
      ...{ check: 'paying after void', outcome: 'failed', duration_ms: expect.any(Number) },
      ...{ detail: expect.stringContaining('paid twice'), rule: expect.stringContaining('409') },
    },
  ]);
});

const nowhere = 'http://127.0.0.1:9';
const inProduction = { NODE_ENV: 'production', GATEWAY_URL: 'https://bank.example' };
test.each([
  ['--pay without a code', {}, [nowhere, '--pay'], 1, /^With --pay, pass --qr/],
  ['no URL', {}, ['bank'], 2, /It must be a URL/],
  ['no token file', {}, [nowhere, '--token-file', '/not/there'], 1, /cannot be read \(ENOENT\)/],
  ['a folder as token file', {}, [nowhere, '--token-file', '/tmp'], 1, /cannot be read \(EISDIR\)/],
  ['an empty token file', {}, [nowhere, '--token-file', '/dev/null'], 1, /is not a token/],
  [
    'orders at the gateway of a service in production',
    inProduction,
    ['https://bank.example/', '--qr', payableLink, '--pay'],
    ...([1, /^This is the GATEWAY_URL of a service in production/] as const),
  ],
])('refuses %s', async (_, given, args, code, message) => {
  const result = await kopeck(given as Record<string, string>, 'gateway', 'check', ...args);
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
  expect(result.stderr).toMatch(message);
});

test('the token is in no output', async () => {
  const { url } = await startAdapter('token not checked');
  const { stdout, stderr } = await kopeck(env, `gateway check ${url} --json`);
  expect(stdout + stderr).not.toContain(adapterToken);
});

test.each([
  ['cannot be reached', 'http://127.0.0.1:9', env],
  ['rejects the token', (await startAdapter()).url, {}],
])('an adapter that %s is reported once', async (why, url, given) => {
  const { code, stdout } = await kopeck(given, `gateway check ${url}`);
  expect(stdout.match(/FAILED|skipped/g)).toEqual(['FAILED']);
  expect(stdout).toMatch(new RegExp(`\\nNothing more was checked: the adapter ${why}\\.\\n$`));
  expect(code).toBe(1);
});
