import type { Queryable } from '../db/postgres/index.ts';
import { writeAct } from './act.ts';
import { writeCsv } from './csv.ts';
import { writeOneC } from './one-c.ts';
import type { Report } from './report.ts';
import type { ReportLanguage } from './texts.ts';
import { writeXlsx } from './xlsx.ts';

type Writer = (
  db: Queryable,
  report: Report,
  language: ReportLanguage,
) => AsyncGenerator<string | Uint8Array>;

/** The formats, with the beginning and the end of the names of their files. */
const formats = {
  csv: { write: writeCsv, start: 'kopeck', ending: 'csv' },
  xlsx: { write: writeXlsx, start: 'kopeck', ending: 'xlsx' },
  '1c': { write: writeOneC, start: 'kl_to_1c', ending: 'txt' },
  pdf: { write: writeAct, start: 'act', ending: 'pdf' },
} satisfies Record<string, { write: Writer; start: string; ending: string }>;
export type ReportFormat = keyof typeof formats;
export const reportFormats = Object.keys(formats) as ReportFormat[];

/** The file of a report. An error while it is written ends it early. */
export function reportFile(
  db: Queryable,
  report: Report,
  { format, language }: { format: ReportFormat; language: ReportLanguage },
): { name: string; pieces: AsyncGenerator<string | Uint8Array> } {
  const { write, start, ending } = formats[format];
  const { account, period } = report;
  const days = period.from === period.to ? period.from : `${period.from}_${period.to}`;
  return {
    name: `${start}-${account.partnerId}-${account.mode}-${days}.${ending}`,
    pieces: write(db, report, language),
  };
}
