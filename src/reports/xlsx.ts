import { createWallClock } from '../base/calendar.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { Report } from './report.ts';
import { type Cell, tableLines } from './table.ts';
import { type Column, columns, type ReportLanguage, reportTexts } from './texts.ts';

/** In characters. */
const widths: Record<Column, number> = {
  at: 19,
  operation: 24,
  status: 19,
  externalId: 26,
  paymentId: 32,
  recipient: 30,
  rub: 14,
  rate: 12,
  debit: 17,
  credit: 17,
  held: 17,
  balance: 20,
  reference: 34,
};

const usdt = '#,##0.000000';
const formats: Partial<Record<Column, string>> = {
  at: 'dd.mm.yyyy hh:mm:ss',
  rub: '#,##0.00',
  rate: '0.0000',
  debit: usdt,
  credit: usdt,
  held: usdt,
  balance: usdt,
};

/**
 * A workbook that is compressed while it is read. Beyond the million rows of a sheet it goes on in the next one. Excel computes with
 * 15 digits; an amount has at most nine before the point and six after it.
 */
export async function* writeXlsx(
  db: Queryable,
  report: Report,
  language: ReportLanguage,
): AsyncGenerator<Uint8Array> {
  const { writeXlsxStream } = await import('hucre/xlsx');
  const t = reportTexts[language];
  const wallClock = createWallClock(report.period.timeZone);
  async function* rows() {
    for await (const lines of tableLines(db, report, language))
      for (const line of lines) yield line.map(cell => excelValueOf(cell, wallClock));
  }
  yield* writeXlsxStream(rows(), {
    name: t.title,
    freezePane: { rows: 1 },
    columns: columns.map(column => ({
      header: t.columns[column],
      width: widths[column],
      ...(formats[column] ? { numFmt: formats[column] } : {}),
    })),
  });
}

/** Excel reads `_x0041_` as the character with that number, unless its first underscore is written so itself. */
const escaped = (text: string) => text.replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');

/** A text is never a formula here: a cell has its type. */
function excelValueOf(cell: Cell, wallClock: (at: Date) => Date): string | number | Date | null {
  if (cell === null) return null;
  if ('text' in cell) return escaped(cell.text);
  if ('at' in cell) return wallClock(cell.at);
  if ('kopecks' in cell) return Number(formatKopecks(cell.kopecks));
  return Number('rateE4' in cell ? formatRate(cell.rateE4) : formatMicroUsdt(cell.microUsdt));
}
