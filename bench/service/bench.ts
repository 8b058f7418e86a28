/** The whole service, started like `npm start` and driven over HTTP from another process, with baselines of the same run. */
import { machine } from '../table.ts';
import { drawChart, saveChart } from './chart.ts';
import { closeAllWhenEnded } from './cleanup.ts';
import { consoleSection } from './console.ts';
import { type Context, createContext, type Options, type Section } from './context.ts';
import { deliveredSection } from './delivered.ts';
import { type Figure, whole } from './figures.ts';
import { growthSection } from './growth.ts';
import { hotSection } from './hot.ts';
import { memorySection } from './memory.ts';
import { overloadSection } from './overload.ts';
import { liveSection, paymentsSection, yardstickSection } from './payments.ts';
import { profileSection } from './profile.ts';
import { writeTable, writeToReadme } from './readme-table.ts';
import { readsSection } from './reads.ts';
import { soakSection } from './soak.ts';
import { startSection } from './start.ts';

/** In the order in which they run. */
export const sections: Record<string, Section> = {
  start: startSection,
  yardstick: yardstickSection,
  payments: paymentsSection,
  live: liveSection,
  hot: hotSection,
  memory: memorySection,
  reads: readsSection,
  delivered: deliveredSection,
  overload: overloadSection,
  growth: growthSection,
  console: consoleSection,
  soak: soakSection,
  profile: profileSection,
};

/** Sections that run only when they are named. */
export const onRequest = ['soak', 'profile'];

/** Measures the named sections. */
export async function benchService(
  names: string[],
  options: Options,
  progress: (line: string) => void,
): Promise<Figure[]> {
  closeAllWhenEnded();
  const context = createContext(options, progress);
  const figures: Figure[] = [];
  try {
    for (const name of Object.keys(sections))
      if (names.includes(name)) figures.push(...(await sections[name]!(context)));
    figures.push(...(await verifyBooks(context)));
  } finally {
    await context.close();
  }
  return figures;
}

async function verifyBooks({ verify }: Context): Promise<Figure[]> {
  const entries = await verify();
  if (entries === undefined) return [];
  const measured = `in order, ${whole(entries)} entries`;
  return [{ what: 'the ledger after all this', measured, values: { entries } }];
}

/** The figures as a table and as JSON. A whole run also saves the chart and, with `write`, the table in README.md. */
export function report(figures: Figure[], { isWhole, write }: { isWhole: boolean; write: boolean }) {
  const text = writeTable(figures);
  if (isWhole) saveChart(drawChart(figures, machine()));
  if (write) writeToReadme(text);
  return {
    text,
    json: { machine: machine(), figures: figures.map(({ what, bar, values }) => ({ what, ...values, bar })) },
  };
}
