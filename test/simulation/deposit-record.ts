import type { Pool } from '../../src/db/pool.ts';

export interface BookedDeposit {
  key: string;
  transaction: string;
  uuid: string;
  logIndex: number;
  units: bigint;
  microUsdt: bigint;
  state: 'pending' | 'dropped' | 'screening' | 'accumulating' | 'credited' | 'held' | 'rejected';
  heldFor: string | null;
  reference: string | null;
}

export interface Books {
  cursor: { block: number; hash: string };
  deposits: BookedDeposit[];
  /** Entries of the ledger. */
  credits: { uuid: string; reference: string; microUsdt: bigint }[];
  /** Subjects of the alarms about what could not be read. */
  unread: string[];
}

const statement = `
  SELECT (SELECT json_build_object('block', cursor_block, 'hash', cursor_hash) FROM deposit_chains) AS cursor,
         (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
            SELECT transaction || ' ' || partner_id || ' ' || ordinal AS key, transaction, partner_id AS uuid,
                   log_index AS "logIndex", units::text, micro_usdt::text AS "microUsdt", state, held_for AS "heldFor",
                   credit_reference AS reference
              FROM deposits WHERE partner_id = ANY ($1)) AS d) AS deposits,
         (SELECT coalesce(json_agg(row_to_json(e)), '[]') FROM (
            SELECT partner_id AS uuid, reference, micro_usdt::text AS "microUsdt" FROM entries
             WHERE partner_id = ANY ($1) AND mode = 'live' AND reference LIKE 'deposit:%') AS e) AS credits,
         (SELECT coalesce(json_agg(subject), '[]') FROM alarms WHERE kind = 'deposit_unread') AS unread`;

export interface Known {
  /** By partner. */
  credited: Map<string, bigint>;
  /** The deposits that are credited or rejected, for good. */
  ended: Map<string, string>;
  /** The deposits that are final, and their transactions. */
  final: Set<string>;
  finalTransactions: Set<string>;
  /** At which version of the chain everything was on record. */
  settledAt: number | undefined;
  unread: Set<string>;
  /** Something was unread that can be read now. */
  isMissing: boolean;
  /** How often it was checked, and by partner the last time that nothing was due. */
  checks: number;
  notDue: Map<string, number>;
}

export const isFinal = ({ state }: BookedDeposit) => state !== 'pending' && state !== 'dropped';

export function sumBy<Item>(
  items: Item[],
  keyOf: (item: Item) => string,
  sizeOf: (item: Item) => bigint,
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0n) + sizeOf(item));
  return sums;
}

export async function readBooks(pool: Pool, uuids: string[]): Promise<Books> {
  const query = { name: 'deposits of the run', text: statement, values: [uuids] };
  const { cursor, deposits, credits, unread } = (await pool.query(query)).rows[0]!;
  return {
    cursor,
    unread,
    deposits: deposits.map((row: BookedDeposit) => ({
      ...row,
      units: BigInt(row.units),
      microUsdt: BigInt(row.microUsdt),
    })),
    credits: credits.map((row: Books['credits'][number]) => ({ ...row, microUsdt: BigInt(row.microUsdt) })),
  };
}
