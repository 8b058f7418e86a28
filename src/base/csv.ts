/**
 * CSV injection: a spreadsheet runs a cell that begins so as a formula, unless an apostrophe stands before it. Where `;` or a
 * tab separates cells, it splits at these inside of a cell too, and takes a quote in the middle of a cell for text. So what
 * follows a separator is treated as a cell of its own.
 */
const looksLikeFormula = /^[" ]*[=+\-@＝＋－＠]/u;
const separator = /([;,\t\r\n])/;
const isNumber = /^-?\d+(\.\d+)?$/;

/** What Excel expects where a comma separates the decimal places, as in Russian. */
export const excelStart = '\ufeff';

/** One line of such a file: texts, which are never run as formulas, and numbers that are formatted already. */
export const excelLine = (cells: (string | { number: string } | null)[]) =>
  `${cells.map(cell => (typeof cell === 'object' ? (cell?.number ?? '') : safeCell(cell, /[";\n\r]/))).join(';')}\r\n`;

/** One RFC 4180 line, ending with `\n`. */
export const csvLine = (cells: (string | number | bigint | null)[]) => `${cells.map(toCell).join(',')}\n`;

function toCell(cell: string | number | bigint | null): string {
  const text = `${cell ?? ''}`;
  return isNumber.test(text) ? text : safeCell(text, /[",\n\r]/);
}

function safeCell(text: string, needsQuotes: RegExp): string {
  const safe = text.split(separator).map(withoutFormula).join('');
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const withoutFormula = (part: string) => (looksLikeFormula.test(part) ? `'${part}` : part);
