import type { Clock } from '../../base/clock.ts';
import { createFairShare } from '../../base/fair-share.ts';
import { openPool, type Pool, type Queryable, withCircuitBreaker } from './pool.ts';

/** One more than the places: reads by primary key always have a connection. */
const readConnections = 4;
const consoleConnections = 2;
const conversationConnections = 2;
const requestLogConnections = 1;
/** Shorter than that of payments: a page takes milliseconds, and a bad plan must not hold a place for long. */
const readTimeoutMs = 3_000;

/**
 * Connections for what people outside ask for, and for the log of their requests, beside the main pool: payments and
 * background work never wait for these. They are opened when they are needed.
 */
export function openOutsidePools({ options }: Pool) {
  const pools = {
    console: openPool({ ...options }, consoleConnections),
    /** The bot's conversations, and the portal: what people of partners ask for. The bot's notices use the main pool. */
    conversations: openPool({ ...options }, conversationConnections),
    requestLog: openPool({ ...options, statement_timeout: readTimeoutMs }, requestLogConnections),
  };
  return {
    ...pools,
    close: async () => void (await Promise.all(Object.values(pools).map(pool => pool.end()))),
  };
}

/** For what partners read. */
export const openReadPool = ({ options }: Pool): Pool =>
  openPool({ ...options, statement_timeout: readTimeoutMs }, readConnections);

const places = 3;
const placesPerPartner = 2;
/** Then the partner has more slow reads under way than it has places. */
const maxPlaceWaitMs = 1_000;

export type PartnerReads = ReturnType<typeof createPartnerReads>;

/** What partners read through the API. */
export function createPartnerReads(pool: Pool, clock: Clock, isAnswering: () => boolean) {
  const share = createFairShare({ clock, places, placesPerOwner: placesPerPartner });
  const db = withCircuitBreaker(pool, isAnswering);
  return {
    /** Each statement waits for a place of this partner. */
    of: (partnerId: string, maxWaitMs = maxPlaceWaitMs): Queryable => ({
      query: statement => share.run(partnerId, () => db.query(statement), maxWaitMs),
    }),
    /** The same for a transaction. */
    run: <Result>(partnerId: string, work: (pool: Pool) => Promise<Result>) =>
      share.run(partnerId, () => work(pool), maxPlaceWaitMs),
    /** For reads by primary key whose callers share one statement: one connection for each such read, for all partners. */
    byKey: db,
  };
}
