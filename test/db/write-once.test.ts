import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeOnce } from '../../src/db/secrets/write-once.ts';
import { newFolder } from '../helpers/folders.ts';

test('a file is written once, for its owner alone, and no draft is left', () => {
  const folder = newFolder();
  const file = join(folder, 'place.json');
  writeOnce(file, 'first');
  writeOnce(file, 'second');
  expect(fs.readFileSync(file, 'utf8')).toBe('first');
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(folder)).toEqual(['place.json']);
});
