import { excelLine, excelStart } from '../base/csv.ts';
import { formatKopecks, formatMicroUsdt, formatRate } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import type { Report } from './report.ts';
import { type Cell, tableLines } from './table.ts';
import { columns, type ReportLanguage, reportTexts } from './texts.ts';
import { createTimeText } from './wanted-period.ts';

/** For a Russian Excel, which opens it by a double click. */
export async function* writeCsv(
  db: Queryable,
  report: Report,
  language: ReportLanguage,
): AsyncGenerator<string> {
  const timeText = createTimeText(report.period.timeZone);
  const names = reportTexts[language].columns;
  yield excelStart + excelLine(columns.map(column => names[column]));
  for await (const lines of tableLines(db, report, language))
    yield lines.map(line => excelLine(line.map(cell => cellOf(cell, timeText)))).join('');
}

function cellOf(cell: Cell, timeText: (at: Date) => string): string | { number: string } | null {
  if (cell === null) return null;
  if ('text' in cell) return cell.text;
  if ('at' in cell) return timeText(cell.at);
  return { number: decimalOf(cell).replace('.', ',') };
}

function decimalOf(cell: Exclude<Cell, null | { text: string } | { at: Date }>): string {
  if ('kopecks' in cell) return formatKopecks(cell.kopecks);
  return 'rateE4' in cell ? formatRate(cell.rateE4) : formatMicroUsdt(cell.microUsdt);
}
