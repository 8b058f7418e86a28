import { type ReportRow, type RowKind, rowKinds } from './report.ts';

export interface Total {
  count: number;
  kopecks: bigint;
  microUsdt: bigint;
}
export type Totals = Record<RowKind, Total>;

export const noTotals = () =>
  Object.fromEntries(rowKinds.map(kind => [kind, { count: 0, kopecks: 0n, microUsdt: 0n }])) as Totals;

export function addTo(totals: Totals, { kind, kopecks, microUsdt }: ReportRow): void {
  const total = totals[kind];
  total.count += 1;
  total.kopecks += kopecks ?? 0n;
  total.microUsdt += microUsdt;
}
