import { expect, test } from 'vitest';
import { csvLine } from '../../src/base/csv.ts';
import { createRandom } from '../helpers/random.ts';

/** Cells as a spreadsheet sees them that splits at this separator; quotes count only at the start of a cell. */
function cellsOf(line: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const text = line.replace(/\n$/, '');
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (isQuoted) {
      if (character === '"' && text[at + 1] === '"') cell += text[at++];
      else if (character === '"') isQuoted = false;
      else cell += character;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator || character === '\n' || character === '\r') {
      cells.push(cell);
      cell = '';
    } else cell += character;
  }
  return [...cells, cell];
}

/** OWASP: these begin a formula, also after what a spreadsheet drops before them. */
const isFormula = (cell: string) => /^[\s"]*[=+\-@＝＋－＠]/u.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell);

test.each([
  ['x;=1+1', "x;'=1+1"],
  ['=1+1', "'=1+1"],
  ['a\t@SUM(A1)', "a\t'@SUM(A1)"],
  ['a, +7 900', `"a,' +7 900"`],
  ['a;"=1+1"', `"a;'""=1+1"""`],
  ['line\n-2+3', `"line\n'-2+3"`],
  ['x;＝1+1', "x;'＝1+1"],
  ['-5.50', '-5.50'],
  ['1;-5.50', "1;'-5.50"],
  ['Shop & Co; since 1998', 'Shop & Co; since 1998'],
  ['a=b', 'a=b'],
])('%j is written as %j', (cell, written) => {
  expect(csvLine([cell])).toBe(`${written}\n`);
});

test('no text makes a formula, at whatever a spreadsheet splits, and a parser reads the text back', () => {
  const random = createRandom(7);
  const characters = [...'=+-@;,\t\r\n"\' x1＝＠'];
  for (let round = 0; round < 3_000; round++) {
    const length = random.between(0, 9);
    const cell = Array.from({ length }, () => random.pick(characters)).join('');
    const line = csvLine(['a', cell, 'b']);
    // One call of `expect` per text: they take the time of this test.
    const formulas = [';', ',', '\t'].flatMap(separator => cellsOf(line, separator).filter(isFormula));
    expect({ cell, formulas }).toEqual({ cell, formulas: [] });
    // Only apostrophes were added.
    const read = line.slice(2, -3).replace(/^"|"$/g, '').replaceAll('""', '"');
    expect(read.replaceAll("'", '')).toBe(cell.replaceAll("'", ''));
  }
});
