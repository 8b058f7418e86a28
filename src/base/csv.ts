/** What a spreadsheet would take for a formula; with an apostrophe before it, it is text. */
const looksLikeFormula = /^[=+\-@\t\r]/;
const isNumber = /^-?\d+(\.\d+)?$/;

/** One line of RFC 4180, with `\n` at its end. */
export const csvLine = (cells: (string | number | bigint | null)[]) => `${cells.map(toCell).join(',')}\n`;

function toCell(cell: string | number | bigint | null): string {
  const text = `${cell ?? ''}`;
  const safe = looksLikeFormula.test(text) && !isNumber.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
