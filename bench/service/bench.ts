/** The whole service, started like `npm start` and driven over HTTP from another process, compared with figures of the same run. */
import { machine } from '../table.ts';
import { addedSection } from './added.ts';
import { drawChart, saveChart } from './chart.ts';
import { closeAllWhenEnded } from './cleanup.ts';
import { consoleSection } from './console.ts';
import { type Context, createContext, type Options, type Section } from './context.ts';
import { deliveredSection } from './delivered.ts';
import { deliveriesSection } from './deliveries.ts';
import { type Figure, whole } from './figures.ts';
import { growthSection } from './growth.ts';
import { hotSection } from './hot.ts';
import { idleSection } from './idle.ts';
import { medianOfRuns } from './median-run.ts';
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
  idle: idleSection,
  yardstick: yardstickSection,
  payments: paymentsSection,
  live: liveSection,
  added: addedSection,
  hot: hotSection,
  memory: memorySection,
  reads: readsSection,
  delivered: deliveredSection,
  deliveries: deliveriesSection,
  overload: overloadSection,
  growth: growthSection,
  console: consoleSection,
  soak: soakSection,
  profile: profileSection,
};

/** Sections that run only when they are named. */
export const onRequest = ['soak', 'profile'];

/** Measures the named sections, as often as the options say; returns the figures of each run. */
export async function benchService(
  names: string[],
  { runs, ...options }: Options & { runs: number },
  progress: (line: string) => void,
): Promise<Figure[][]> {
  closeAllWhenEnded();
  const done: Figure[][] = [];
  while (done.length < runs) {
    const prefix = runs > 1 ? `Run ${done.length + 1} of ${runs}: ` : '';
    done.push(await benchOnce(names, options, line => progress(`${prefix}${line}`)));
  }
  return done;
}

async function benchOnce(
  names: string[],
  options: Options,
  progress: (line: string) => void,
): Promise<Figure[]> {
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

const valuesOf = (figures: Figure[]) => figures.map(({ what, bar, values }) => ({ what, ...values, bar }));

/**
 * The median of each figure as a table and as JSON, there with all runs. A whole run also saves the chart and, with
 * `write`, the table in README.md.
 */
export function report(runs: Figure[][], { isWhole, write }: { isWhole: boolean; write: boolean }) {
  const figures = medianOfRuns(runs);
  const caption = runs.length > 1 ? `${machine()}, median of ${runs.length} runs` : machine();
  const text = writeTable(figures, caption);
  if (isWhole) saveChart(drawChart(figures, caption));
  if (write) writeToReadme(text);
  return { text, json: { machine: machine(), figures: valuesOf(figures), runs: runs.map(valuesOf) } };
}
