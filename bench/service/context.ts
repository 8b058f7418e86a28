import { warmUpKeys, warmUpPayments } from './drive.ts';
import { type BenchEnvironment, openEnvironment, partnerCount } from './environment.ts';
import type { Figure } from './figures.ts';
import { fill } from './fill.ts';
import { createPartners, type PayingPartner } from './partners.ts';
import { measureYardstick, type Yardstick } from './yardstick.ts';

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
  /** Partners of the same service that pay in live mode. */
  livePartners(): Promise<PayingPartner[]>;
  /** A whole run measures it before the service starts, which would share its cores. */
  yardstick(): Promise<Yardstick>;
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
    await warmUpPayments(opened, { ...options, progress });
    return opened;
  });
  const livePartners = once(async () => {
    const { audit, keyring, service } = await environment();
    progress(`${partnerCount} partners in live mode …`);
    const partners = await createPartners(audit, keyring, partnerCount, { mode: 'live' });
    await warmUpKeys(service.address, partners);
    return partners;
  });
  return {
    ...options,
    progress,
    environment,
    livePartners,
    yardstick: once(() => measureYardstick(partnerCount, options.seconds, progress)),
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
