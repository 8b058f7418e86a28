import { type Baseline, measureBaseline } from './baseline.ts';
import type { Figure } from './figures.ts';
import { fill } from './fill.ts';
import { openStage, type Stage } from './stage.ts';

export interface Options {
  /** How long each figure is counted. */
  seconds: number;
  /** How long the soak takes. */
  minutes: number;
  /** Ten million stored payments too. */
  big: boolean;
}

/** What sections share: made when the first of them asks, and the same for all that follow. */
export interface Context extends Options {
  progress(line: string): void;
  stage(): Promise<Stage>;
  baseline(): Promise<Baseline>;
  /** How many entries the books of the shared stage have, which are in order; undefined if nobody asked for it. */
  verify(): Promise<number | undefined>;
  close(): Promise<void>;
}

export type Section = (context: Context) => Promise<Figure[]>;

/** Enough for every partner to have a full page of history. */
const storedAtFirst = 25_000;

export function createContext(options: Options, progress: (line: string) => void): Context {
  let opened: Stage | undefined;
  const stage = once(async () => {
    opened = await openStage('service', progress);
    await fill(opened, storedAtFirst, progress);
    return opened;
  });
  const baseline = once(async () => {
    const shared = await stage();
    return measureBaseline(shared, shared.partners, options.seconds, progress);
  });
  return {
    ...options,
    progress,
    stage,
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
