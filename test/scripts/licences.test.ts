import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeLicences, findForeignLicences } from '../../scripts/licences.ts';

const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));

test('every package of an installation has a licence of the list', () => {
  expect(findForeignLicences(packages)).toEqual([]);
  expect(describeLicences(packages)).toMatch(/^\d+ {2}MIT\n/);
});

test.each([
  ['MIT', true],
  ['(MIT OR CC0-1.0)', true],
  ['GPL-3.0-only OR MIT', true],
  ['MIT AND OFL-1.1', true],
  ['MIT AND GPL-3.0-only', false],
  ['AGPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE', false],
  [undefined, false],
])('%s is allowed: %s', (license, isAllowed) => {
  const lock = { '': {}, 'node_modules/one': { ...(license ? { license } : {}) } };
  expect(findForeignLicences(lock)).toEqual(
    isAllowed ? [] : [{ path: 'node_modules/one', licence: license }],
  );
});

test('packages for work on the project are not looked at', () => {
  expect(findForeignLicences({ 'node_modules/tool': { dev: true, license: 'GPL-3.0-only' } })).toEqual([]);
});
