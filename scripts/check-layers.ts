/** Fails when the table of layers in ARCHITECTURE.md differs from the dependency rules that enforce them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tracked-files.ts';

const { layers }: { layers: string[][] } = await import(`${root}/.dependency-cruiser.mjs`);
const document = 'ARCHITECTURE.md';
const text = readFileSync(join(root, document), 'utf8');
const table = text.match(/<!-- layers -->(.*)<!-- \/layers -->/s)?.[1] ?? '';
const rows = table.matchAll(/^\| *(\d+) *\|([^|]*)\|/gm);

/** `6: cli, runtime`, for every row, by number. */
const documented = Array.from(rows, ([, number, modules = '']) => {
  const names = modules.replaceAll('`', '').split(',');
  return describe(
    Number(number),
    names.map(name => name.trim()),
  );
});
const enforced = layers.map((modules, number) => describe(number, modules));

function describe(number: number, modules: string[]): string {
  return `${number}: ${modules.toSorted().join(', ')}`;
}

const differences = [
  ...enforced.filter(row => !documented.includes(row)).map(row => `${document} lacks the layer ${row}`),
  ...documented.filter(row => !enforced.includes(row)).map(row => `${document} has a layer ${row}`),
];
for (const difference of differences) console.error(`${difference}; see layers in .dependency-cruiser.mjs`);
if (differences.length > 0) process.exitCode = 1;
