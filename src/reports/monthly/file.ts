import { periodOfDays } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { Partner } from '../../partners/index.ts';
import { reportFile } from '../formats.ts';
import { openReport } from '../report.ts';
import type { ReportLanguage } from '../texts.ts';
import { lastDayOf } from './schedule.ts';

/** A bot may send files of 50 MB. */
const maxBytes = 45 * 1024 * 1024;

/** The report of a month as a workbook, in memory; undefined if there is none, or if it is too large to be sent. */
export async function monthlyFile(
  { pool, clock }: { pool: Queryable; clock: Clock },
  { partnerId, name: partner, timeZone }: Pick<Partner, 'partnerId' | 'name' | 'timeZone'>,
  month: string,
  language: ReportLanguage,
): Promise<{ name: string; bytes: Buffer } | undefined> {
  const [from, to] = [month, lastDayOf(month)];
  const period = { timeZone, from, to, ...periodOfDays(timeZone, from, to) };
  const report = await openReport(pool, clock, { partnerId, mode: 'live', partner }, period);
  if (typeof report === 'string') return undefined;
  const { name, pieces } = reportFile(pool, report, { format: 'xlsx', language });
  const kept: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    size += bytes.length;
    if (size > maxBytes) return undefined;
    kept.push(bytes);
  }
  return { name, bytes: Buffer.concat(kept) };
}
