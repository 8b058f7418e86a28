import { type Baseline, measureBaseline } from './baseline.ts';
import { type BenchEnvironment, openEnvironment } from './environment.ts';
import type { Figure } from './figures.ts';
import { fill } from './fill.ts';

export interface Options {
  /** How long each figure is counted. */
  seconds: number;
  /** How long the soak takes. */
  minutes: number;
  /** Ten million stored payments too. */
  big: boolean;
}

/** Shared by all sections; created when the first section needs it. */
export interface Context extends Options {
  progress(line: string): void;
  environment(): Promise<BenchEnvironment>;
  baseline(): Promise<Baseline>;
  /** Verifies the shared ledger and returns its number of entries; undefined if no section used it. */
  verify(): Promise<number | undefined>;
  close(): Promise<void>;
}

export type Section = (context: Context) => Promise<Figure[]>;

/** Enough for a full page of history per partner. */
const initialPayments = 25_000;

export function createContext(options: Options, progress: (line: string) => void): Context {
  let opened: BenchEnvironment | undefined;
  const environment = once(async () => {
    opened = await openEnvironment('service', progress);
    await fill(opened, initialPayments, progress);
    return opened;
  });
  const baseline = once(async () => {
    const shared = await environment();
    return measureBaseline(shared, shared.partners, options.seconds, progress);
  });
  return {
    ...options,
    progress,
    environment,
    baseline,
    verify: async () => opened?.verify(),
    close: async () => opened?.close(),
  };
}

function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
