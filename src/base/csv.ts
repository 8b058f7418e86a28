/**
 * CSV injection: a spreadsheet runs a cell that begins so as a formula, unless an apostrophe stands before it. Where `;` or a
 * tab separates cells, it splits at these inside of a cell too, and takes a quote in the middle of a cell for text. So what
 * follows a separator is treated as a cell of its own.
 */
const looksLikeFormula = /^[" ]*[=+\-@＝＋－＠]/u;
const separator = /([;,\t\r\n])/;
const isNumber = /^-?\d+(\.\d+)?$/;

/** One RFC 4180 line, ending with `\n`. */
export const csvLine = (cells: (string | number | bigint | null)[]) => `${cells.map(toCell).join(',')}\n`;

function toCell(cell: string | number | bigint | null): string {
  const text = `${cell ?? ''}`;
  const safe = isNumber.test(text) ? text : text.split(separator).map(withoutFormula).join('');
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const withoutFormula = (part: string) => (looksLikeFormula.test(part) ? `'${part}` : part);
