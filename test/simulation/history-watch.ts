import type pg from 'pg';
import type { Pool, Statement } from '../../src/db/postgres/pool.ts';
import type { World } from './world.ts';

export const isWriteOfRecovery = (text: string) => /incarnation_begin\(|payments_recover\(/.test(text);

interface State {
  isRecovering: boolean;
  hasStray: boolean;
  strayOrders: string[];
  /** When the list is read next for late orders; null: never. */
  nextListMs: number | null;
}

const listEveryMs = 10_000;

/** Observes the statements about the history of the database: incarnations, beats, and orders without a payment. */
export function createHistoryWatch(
  { scheduler }: World,
  { pool, promotions }: { pool(): Pool; promotions: number },
) {
  let state: State = { isRecovering: false, hasStray: false, strayOrders: [], nextListMs: null };

  async function readState(): Promise<void> {
    const { rows } = await pool().query<State>({
      name: 'state of the history',
      text: `SELECT EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL) AS "isRecovering",
                    EXISTS (SELECT FROM stray_orders WHERE released_at IS NULL) AS "hasStray",
                    ARRAY(SELECT payment FROM stray_orders) AS "strayOrders",
                    (SELECT (extract(epoch FROM coalesce(listed_at, began_at)) * 1000)::float8 + ${listEveryMs}
                       FROM incarnations i WHERE number = (SELECT max(number) FROM incarnations)
                        AND incarnation_is_watched(i)) AS "nextListMs"`,
    });
    state = rows[0]!;
  }

  const hasWork = () => state.isRecovering || state.hasStray;

  const nextListMs = () => state.nextListMs ?? Number.POSITIVE_INFINITY;

  /** The copy runs on the same server, whose timeline stays. */
  async function readIdentity(statement: Statement): Promise<pg.QueryResult> {
    const result = await pool().query<{ timeline: number }>(statement);
    for (const row of result.rows) row.timeline += promotions;
    return result;
  }

  /** The server's clock shows the real time. */
  const commitBeat = ({ text, values = [] }: Statement) =>
    pool().query({
      name: 'simulated beat',
      text: text.replaceAll('clock_timestamp()', `$${values.length + 1}::timestamptz`),
      values: [...values, new Date(scheduler.nowMs())],
    });

  return {
    /** Answers those that a real server would answer differently. */
    execute: async (statement: Statement) => {
      if (statement.name === 'commit a beat') return commitBeat(statement);
      return statement.text.includes('pg_control_system') ? readIdentity(statement) : undefined;
    },
    observe: async ({ name, text }: Statement) => {
      if (name?.startsWith('claim ')) return;
      if (/incarnation|stray_orders|payments_recover/.test(text)) await readState();
    },
    /** It changes no payment. */
    isOnlyHistory: (text: string) => /^\s*(UPDATE|INSERT INTO) (incarnations|stray_orders)/.test(text),
    isRecovering: () => state.isRecovering,
    /** All that were ever found, with the ids of their payments. */
    strayOrders: () => state.strayOrders,
    /** It is being recovered, or orders without a payment are left. */
    hasWork,
    /** After a change that was not observed. */
    refresh: readState,
    /** When a round of the recovery could find something. */
    nextRoundMs: async () => (hasWork() ? scheduler.nowMs() : nextListMs()),
  };
}

export const nothing: pg.QueryResult = { rows: [], rowCount: 0, command: '', oid: 0, fields: [] };
const functions = ['payments_open', 'quotes_lock', 'payments_finish', 'deliveries_end'];
export const isRead = ({ name = '', text }: Statement) =>
  /^\s*SELECT/.test(text) && !functions.includes(name) && !isWriteOfRecovery(text);
export const isUpdate = (statement: Statement) =>
  /^\s*UPDATE/.test(statement.text) || statement.name === 'acquire webhook leases';
export const changesWebhooks = [
  'deliveries_end',
  'acquire webhook leases',
  'renew webhook leases',
  'release webhook leases',
];
/** Also of a payment that ends when it is opened. */
export const writesEvents = ['payments_open', 'payments_finish'];
