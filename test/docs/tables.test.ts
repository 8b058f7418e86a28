import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('what bounds each table is written down', () => {
  const [, section] = read('docs/internals/database.md').split('## What bounds each table\n');
  const rows = section!.split('\n## ')[0]!.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm);
  const documented = [...rows].flatMap(([, names]) => names!.match(/\w+/g) ?? []);
  const tables = [...read('database/schema.sql').matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)].map(
    ([, name]) => name,
  );
  expect(documented.sort()).toEqual(tables.sort());
});
