import type { Queryable } from '../db/postgres/index.ts';
import { type CurrentRate, readCurrentRate } from './store.ts';

/** The newest rate as this process last read it. Who debits at it must find out whether it still is the newest. */
export interface RateMemo {
  read(): Promise<CurrentRate | undefined>;
  /** The next read asks the database. */
  forget(): void;
}

export function createRateMemo(db: Queryable): RateMemo {
  let rate: CurrentRate | undefined;
  return {
    read: async () => {
      rate ??= await readCurrentRate(db);
      return rate;
    },
    forget: () => {
      rate = undefined;
    },
  };
}
