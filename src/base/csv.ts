/** CSV injection: a spreadsheet runs such a cell as a formula, unless an apostrophe stands before it. */
const looksLikeFormula = /^[=+\-@\t\r]/;
const isNumber = /^-?\d+(\.\d+)?$/;

/** One RFC 4180 line, ending with `\n`. */
export const csvLine = (cells: (string | number | bigint | null)[]) => `${cells.map(toCell).join(',')}\n`;

function toCell(cell: string | number | bigint | null): string {
  const text = `${cell ?? ''}`;
  const safe = looksLikeFormula.test(text) && !isNumber.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
