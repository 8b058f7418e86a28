import type { Queryable } from '../db/postgres/index.ts';
import { isIncome, type Report, type ReportRow, reportRows, rowKinds } from './report.ts';
import { type Column, columns, type ReportLanguage, type ReportTexts, reportTexts } from './texts.ts';
import { addTo, noTotals, type Total } from './totals.ts';
import { createTimeText, dayText } from './wanted-period.ts';

/** A cell with its type: each format writes it in its own way. */
export type Cell =
  | { text: string }
  | { at: Date }
  | { kopecks: bigint }
  | { microUsdt: bigint }
  | { rateE4: bigint }
  | null;

type CellsByColumn = Partial<Record<Column, Cell>>;

const text = (value: string | null): Cell => (value === null ? null : { text: value });
const inOrder = (cells: CellsByColumn): Cell[] => columns.map(column => cells[column] ?? null);

/** The lines below the header of a table, some at a time: the opening balance, the rows, the closing balance, totals, and what it is about. */
export async function* tableLines(
  db: Queryable,
  report: Report,
  language: ReportLanguage,
): AsyncGenerator<Cell[][]> {
  const t = reportTexts[language];
  const totals = noTotals();
  yield [balanceLine(t.opening, report.opening)];
  for await (const rows of reportRows(db, report)) {
    for (const row of rows) addTo(totals, row);
    yield rows.map(row => rowLine(t, row));
  }
  yield [
    balanceLine(t.closing, report.closing),
    ...rowKinds.map(kind => totalLine(t, kind, totals[kind])),
    ...aboutLines(t, report),
  ];
}

const balanceLine = (operation: string, { total, held }: Report['opening']) =>
  inOrder({ operation: { text: operation }, held: { microUsdt: held }, balance: { microUsdt: total } });

/** A payment that failed took nothing, so it has an amount in rubles only. */
const amountOf = (kind: ReportRow['kind'], microUsdt: bigint): CellsByColumn => {
  if (kind === 'succeeded') return { debit: { microUsdt } };
  if (kind === 'processing') return { held: { microUsdt } };
  return isIncome(kind) ? { credit: { microUsdt } } : {};
};

const rowLine = (t: ReportTexts, row: ReportRow) =>
  inOrder({
    at: { at: row.at },
    operation: { text: t.operations[row.kind] },
    status: { text: t.statuses[row.kind] },
    externalId: text(row.externalId),
    paymentId: text(row.paymentId),
    recipient: text(row.recipient),
    rub: row.kopecks === null ? null : { kopecks: row.kopecks },
    rate: row.rateE4 === null ? null : { rateE4: row.rateE4 },
    ...amountOf(row.kind, row.microUsdt),
    balance: { microUsdt: row.balance },
    reference: text(row.reference),
  });

const totalLine = (t: ReportTexts, kind: ReportRow['kind'], { count, kopecks, microUsdt }: Total) =>
  inOrder({
    operation: { text: `${t.total}: ${t.operations[kind].toLowerCase()}` },
    status: { text: t.statuses[kind] },
    rub: kind === 'credit' || kind === 'grant' ? null : { kopecks },
    ...amountOf(kind, microUsdt),
    reference: { text: t.count(count) },
  });

/** Facts of the whole file, with their names in the column of the operations. */
const aboutLines = (t: ReportTexts, report: Report) =>
  aboutReport(t, report).map(([name, fact]) =>
    inOrder({ operation: { text: name }, externalId: { text: fact } }),
  );

export const aboutReport = (t: ReportTexts, report: Report): [name: string, fact: string][] => [
  [t.partner, `${report.partner} (${report.account.partnerId})`],
  [t.mode, t.modes[report.account.mode]],
  [t.period, `${t.from} ${dayText(report.period.from)} ${t.to} ${dayText(report.period.to)}`],
  [t.timeZone, report.period.timeZone],
  [t.state, stateOf(t, report)],
];

export const stateOf = (t: ReportTexts, { closed, madeAt, period }: Report) =>
  closed ? t.closed : t.open(createTimeText(period.timeZone)(madeAt));
