import { createWallClock } from '../base/calendar.ts';
import { formatKopecks, formatMicroUsdt } from '../base/money.ts';
import type { Queryable } from '../db/postgres/index.ts';
import { type ActTexts, actTexts } from './act-texts.ts';
import { amountText, drawTable, keepTogether, type Pdf, type PdfColumn, paragraph, writePdf } from './pdf.ts';
import { isIncome, type Report, type RowKind, reportRows } from './report.ts';
import type { ReportLanguage } from './texts.ts';
import { addTo, noTotals, type Totals } from './totals.ts';
import { createTimeText, dayText } from './wanted-period.ts';

/** What moves the balance, in the order of the lines of a day. */
const kinds = ['succeeded', 'refund', 'credit', 'grant'] as const satisfies RowKind[];

/**
 * The reconciliation act, to be signed by both: a line per day and kind of movement, so that an act of a year has some dozens of pages
 * however many payments there were. The service owes the partner its balance: what it debits is debit, what it credits is credit.
 */
export async function* writeAct(
  db: Queryable,
  report: Report,
  language: ReportLanguage,
): AsyncGenerator<Uint8Array> {
  const wallClock = createWallClock(report.period.timeZone);
  const [days, totals] = [new Map<string, Totals>(), noTotals()];
  for await (const rows of reportRows(db, report)) {
    for (const row of rows) {
      addTo(totals, row);
      if (row.kind === 'processing') continue;
      const day = wallClock(row.at).toISOString().slice(0, 10);
      const ofDay = days.get(day) ?? noTotals();
      days.set(day, ofDay);
      addTo(ofDay, row);
    }
  }
  const t = actTexts[language];
  yield* writePdf({ title: t.title, language, madeAt: report.madeAt, layout: 'landscape' }, pdf => {
    drawHead(pdf, t, report);
    drawTable(pdf, columnsOf(t), linesOf(t, language, report, days, totals));
    drawEnd(pdf, t, language, report, totals);
  });
}

function drawHead(pdf: Pdf, t: ActTexts, { partner, account, period, closed, madeAt }: Report): void {
  paragraph(pdf, t.title, { size: 15, bold: true });
  paragraph(pdf, t.period(dayText(period.from), dayText(period.to)), { size: 11 });
  paragraph(pdf, t.between(partner, account.partnerId));
  if (account.mode === 'test') paragraph(pdf, t.testMode, { bold: true });
  if (!closed) paragraph(pdf, t.preliminary(createTimeText(period.timeZone)(madeAt)), { bold: true });
  paragraph(pdf, t.lead(period.timeZone), { gap: 8 });
}

const columnsOf = (t: ActTexts): PdfColumn[] => [
  { head: t.date, width: 62 },
  { head: t.content, width: 180 },
  { head: t.count, width: 58, align: 'right' },
  { head: t.rub, width: 92, align: 'right' },
  { head: t.debit, width: 96, align: 'right' },
  { head: t.credit, width: 96, align: 'right' },
  { head: t.theirDebit, width: 88, align: 'right' },
  { head: t.theirCredit, width: 88, align: 'right' },
];

function linesOf(
  t: ActTexts,
  language: ReportLanguage,
  report: Report,
  days: Map<string, Totals>,
  totals: Totals,
) {
  const usdt = (microUsdt: bigint) => amountText(language, formatMicroUsdt(microUsdt));
  const balanceLine = (name: string, day: string, microUsdt: bigint) => ({
    cells: [day, name, '', '', '', usdt(microUsdt), '', ''],
    bold: true,
  });
  const movementLine = (day: string, kind: (typeof kinds)[number], of: Totals) => {
    const { count, kopecks, microUsdt } = of[kind];
    const rub = kind === 'credit' || kind === 'grant' ? '' : amountText(language, formatKopecks(kopecks));
    const [debit, credit] = isIncome(kind) ? ['', usdt(microUsdt)] : [usdt(microUsdt), ''];
    return { cells: [dayText(day), t.movements[kind], `${count}`, rub, debit, credit, '', ''] };
  };
  const debited = totals.succeeded.microUsdt;
  const credited = totals.refund.microUsdt + totals.credit.microUsdt + totals.grant.microUsdt;
  return [
    balanceLine(t.opening, dayText(report.period.from), report.opening.total),
    ...[...days].flatMap(([day, of]) =>
      kinds.filter(kind => of[kind].count > 0).map(kind => movementLine(day, kind, of)),
    ),
    { cells: ['', t.turnover, '', '', usdt(debited), usdt(credited), '', ''], bold: true },
    balanceLine(t.closing, dayText(report.period.to), report.closing.total),
  ];
}

function drawEnd(
  pdf: Pdf,
  t: ActTexts,
  language: ReportLanguage,
  { partner, period, closing }: Report,
  totals: Totals,
): void {
  const height = 150;
  keepTogether(pdf, height);
  paragraph(
    pdf,
    t.conclusion({
      day: dayText(period.to),
      partner,
      usdt: amountText(language, formatMicroUsdt(closing.total)),
      held: amountText(language, formatMicroUsdt(closing.held)),
      processing: totals.processing.count,
    }),
    { size: 11, gap: 16 },
  );
  const top = pdf.y;
  const half = (pdf.page.width - 2 * pdf.page.margins.left) / 2;
  for (const [index, who] of [t.fromService, t.fromPartner(partner)].entries()) {
    const left = pdf.page.margins.left + index * half;
    const at = { width: half - 20 };
    pdf.font('bold').fontSize(10).text(who, left, top, at);
    pdf.font('regular').text(t.signature, left, pdf.y + 14, at);
    pdf.fontSize(8).text(t.signatureHint, left, pdf.y, at);
  }
}
