import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../table.ts';
import { describeBar, type Figure } from './figures.ts';

export function writeTable(figures: Figure[], caption: string): string {
  const rows = figures.map(({ what, measured, against = '', bar }) => [
    what,
    measured,
    against,
    bar ? describeBar(bar) : '',
  ]);
  return [caption, table(['what', 'measured', 'against', 'bar'], rows)].join('\n\n');
}

const readme = join(import.meta.dirname, '..', 'README.md');
const [begin, end] = ['<!-- table: begin -->', '<!-- table: end -->'];

/** Replaces the table between the markers in README.md. */
export function writeToReadme(text: string): void {
  const page = readFileSync(readme, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${readme} has no markers for the table`);
  writeFileSync(readme, `${page.slice(0, from + begin.length)}\n\n${text}\n\n${page.slice(to)}`);
}
