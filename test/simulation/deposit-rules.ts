import type { Pool } from '../../src/db/postgres/pool.ts';
import type { ChainTruth, SimulatedChain } from './chain.ts';
import type { World } from './world.ts';

/** Who may credit or reject a deposit. */
export interface StateRules {
  isScreened: boolean;
  isAllowed(deposit: BookedDeposit): boolean;
  isDecided(key: string, outcome: 'credited' | 'rejected'): boolean;
}

interface Parts {
  chain: SimulatedChain;
  truth: ChainTruth;
  uuids: string[];
  refusedAlone: ReadonlySet<string>;
  rules: StateRules;
}

type Rule = (world: World, parts: Parts, books: Books, before: Known) => void;

const maxMicroUsdt = 10n ** 15n;

/** The cursor never passes a transfer that is neither on record nor reported, on whichever branch its block is. */
const checkCursor: Rule = ({ violate }, { chain, truth, refusedAlone }, { cursor, deposits, unread }) => {
  const block = chain.find(cursor.hash);
  if (!block || block.number !== cursor.block || !chain.everFinal.has(block))
    return violate('the cursor is a block that was final', `block ${cursor.block} ${cursor.hash}`);
  const onRecord = new Set(deposits.filter(isFinal).map(({ key }) => key));
  const reported = new Set(unread);
  for (const { key, blockNumber, account } of truth.upTo(block))
    if (!onRecord.has(key) && !reported.has(`ethereum block ${blockNumber} ${account}`))
      violate('a final transfer up to the cursor is on record or reported', `${key} of block ${blockNumber}`);
  for (const subject of unread)
    if (!refusedAlone.has(subject.replace('ethereum block ', '')))
      violate('only what no node gives is reported as unread', subject);
};

/** What is on record was transferred in a block that was final, once, and credited once. */
const checkAmounts: Rule = ({ violate }, { truth, uuids }, { deposits, credits }) => {
  const real = truth.everFinal();
  const final = deposits.filter(isFinal);
  for (const { key, units } of final)
    if (!real.get(key)?.some(version => version.units === units))
      violate('only what was transferred is on record', `${key} of ${units}`);
  if (new Set(final.map(({ key }) => key)).size < final.length)
    violate('each transfer is on record once', `${final.length}`);
  const keyOf = ({ uuid, reference }: { uuid: string; reference: string | null }) => `${uuid} ${reference}`;
  const sumsOf = (items: { uuid: string; reference: string | null; microUsdt: bigint }[]) =>
    JSON.stringify(
      [...sumBy(items, keyOf, ({ microUsdt }) => microUsdt)].map(([key, sum]) => `${key} ${sum}`).sort(),
    );
  const credited = final.filter(({ state }) => state === 'credited');
  if (sumsOf(credited) !== sumsOf(credits))
    violate('credits equal the credited deposits', `${sumsOf(credits)} instead of ${sumsOf(credited)}`);
  for (const uuid of uuids) {
    const sum = credits
      .filter(entry => entry.uuid === uuid)
      .reduce((total, entry) => total + entry.microUsdt, 0n);
    if (sum > truth.mostOf(uuid))
      violate('no partner is credited more than was transferred', `${sum} instead of ${truth.mostOf(uuid)}`);
  }
};

const checkStates: Rule = ({ violate }, { rules }, { deposits }, before) => {
  for (const deposit of deposits.filter(isFinal)) {
    const { key, transaction, state, heldFor, microUsdt } = deposit;
    const isNew = !before.final.has(key);
    const isLate = isNew && before.finalTransactions.has(transaction);
    if (isLate && state !== 'held')
      violate('what comes after its transaction was booked is held', `${key} ${state}`);
    if (isNew && heldFor === 'late' && !isLate)
      violate('what comes with its transaction is not held as late', key);
    if ((heldFor === 'amount') !== microUsdt > maxMicroUsdt)
      violate('what is more than a billion is held', `${key} ${state} ${heldFor}`);
    if (!isPermitted(rules, deposit))
      violate('only what is allowed or released is credited', `${key} ${state}`);
  }
};

function isPermitted({ isScreened, isAllowed, isDecided }: StateRules, deposit: BookedDeposit): boolean {
  const { key, state, heldFor } = deposit;
  switch (state) {
    case 'rejected':
      return isDecided(key, 'rejected');
    case 'held':
      return ['late', 'unread', 'amount'].includes(heldFor!) || (isScreened && heldFor !== 'reference');
    case 'screening':
      return isScreened;
    case 'accumulating':
      return isAllowed(deposit);
    case 'credited':
      return heldFor === null ? isAllowed(deposit) : isDecided(key, 'credited');
    default:
      return true;
  }
}

const checkEnded: Rule = ({ violate }, _parts, { deposits }, before) => {
  const now = new Map(deposits.map(({ key, state, reference }) => [key, `${state} ${reference}`]));
  for (const [key, end] of before.ended)
    if (now.get(key) !== end)
      violate('a deposit that is credited or rejected stays so', `${end}, then ${now.get(key)}`);
};

/** After every commit. */
export const checkDeposits: Rule = (...args) => {
  for (const check of [checkCursor, checkAmounts, checkStates, checkEnded]) check(...args);
};

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
