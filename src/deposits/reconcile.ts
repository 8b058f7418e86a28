import type { Alarms } from '../alarms/index.ts';
import { type Clock, dayMs } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { OperatorError } from '../base/operator-error.ts';
import { findRow, type Queryable, readRows } from '../db/postgres/index.ts';
import { readAccounts } from './addresses.ts';
import type { DepositChain } from './chain/deposit-chain.ts';
import type { ChainNode } from './chain/node.ts';
import { maxRangeBlocks, rangeFrom, readHalving } from './watch/halving.ts';
import {
  DisagreementError,
  type Range,
  readFinalRange,
  type Transfer,
  type Transfers,
} from './watch/read-range.ts';

export type DepositDifferenceKind = 'not_on_record' | 'not_on_chain' | 'differs' | 'not_in_ledger';

export interface DepositDifference {
  kind: DepositDifferenceKind;
  transaction: string;
  /** Which of the transfers of the transaction to this partner. */
  ordinal: number;
  partnerId: Id<'prt'>;
  /** In the smallest units of the token. */
  chainUnits: bigint | null;
  recordedUnits: bigint | null;
}

/**
 * Reads the blocks of a UTC day from all nodes again, and compares their transfers with the deposits and the ledger. A
 * difference is an alarm until a later comparison of the same day finds none.
 */
export async function reconcileDeposits(
  { db, clock, alarms }: { db: Queryable; clock: Clock; alarms: Alarms },
  chain: DepositChain,
  day: Date,
) {
  const found = await compareDay(db, clock, chain, day).catch(error => {
    if (!(error instanceof DisagreementError)) throw error;
    throw new OperatorError(`${chain.title}: ${error.message}. Nothing was compared.`);
  });
  const date = day.toISOString().slice(0, 10);
  const count = found.differences.length;
  const alarm = {
    kind: 'deposit_discrepancy',
    detail: `${count} deposits of ${date} on ${chain.title} differ from the chain or the ledger: see kopeck deposit reconcile --chain ${chain.name} --day ${date}.`,
  };
  await alarms.report(`deposits ${chain.name} ${date}`, count > 0 ? [alarm] : []);
  return found;
}

async function compareDay(db: Queryable, clock: Clock, chain: DepositChain, day: Date) {
  const cursor = await readCursor(db, chain.name);
  const [node] = chain.nodes;
  const firstBlock = await findBlock(node!, cursor.block, day.getTime());
  const lastBlock = (await findBlock(node!, cursor.block, day.getTime() + dayMs)) - 1n;
  const accounts = await readAccounts(db, chain.name);
  const found = await readBlocks(clock, chain, new Set(accounts.keys()), {
    fromBlock: firstBlock,
    toBlock: lastBlock,
  });
  const unread = found.unread.map(({ blockNumber, account }) => ({
    blockNumber,
    partnerId: accounts.get(account)!,
  }));
  const gaps = new Set(unread.map(one => `${one.blockNumber} ${uuidFromId(one.partnerId)}`));
  const isUnread = ({ block_number, partner_id }: Recorded) => gaps.has(`${block_number} ${partner_id}`);
  const recorded = await readRecorded(db, chain.name, firstBlock, lastBlock);
  return {
    /** Those of the day that are booked; none if the first is greater. */
    ...{ firstBlock, lastBlock },
    ...{ onChain: found.transfers.length, onRecord: recorded.length },
    /** Blocks of which no node gives the transfers to a partner: these are not compared. */
    unread,
    differences: compare(
      found.transfers,
      accounts,
      recorded.filter(row => !isUnread(row)),
    ),
    /** False while blocks of the day are not booked yet. */
    isComplete: cursor.atMs >= day.getTime() + dayMs,
  };
}

async function readBlocks(
  clock: Clock,
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  { fromBlock, toBlock }: Range,
): Promise<Transfers> {
  const found: Transfers = { transfers: [], unread: [] };
  const size = { blocks: maxRangeBlocks };
  for (let next = fromBlock; next <= toBlock; ) {
    const read = await readHalving({ clock, size }, rangeFrom(next, toBlock), asked =>
      readFinalRange(chain, accounts, asked),
    );
    found.transfers = found.transfers.concat(read.transfers, read.unconfirmed);
    found.unread = found.unread.concat(read.unread);
    next = read.end.number + 1n;
  }
  return found;
}

/** Without a row nothing is booked. */
async function readCursor(db: Queryable, chain: string): Promise<{ block: bigint; atMs: number }> {
  const cursor = await findRow<{ block: bigint; at: Date }>(db, {
    text: 'SELECT cursor_block AS block, cursor_time AS at FROM deposit_chains WHERE chain = $1',
    values: [chain],
  });
  return cursor ? { block: cursor.block, atMs: cursor.at.getTime() } : { block: -1n, atMs: 0 };
}

/** The first block of this time or later, up to the one after the last that is booked. Times of blocks only grow. */
async function findBlock(node: ChainNode, last: bigint, atMs: number): Promise<bigint> {
  let [low, high] = [0n, last + 1n];
  while (low < high) {
    const middle = (low + high) / 2n;
    if ((await node.block(middle)).atMs < atMs) low = middle + 1n;
    else high = middle;
  }
  return low;
}

interface Recorded {
  transaction: string;
  ordinal: number;
  block_number: bigint;
  partner_id: string;
  units: string;
  is_in_ledger: boolean;
}

/** What is final. A credit in the ledger is the sum of the deposits that have its reference. */
const readRecorded = (db: Queryable, chain: string, firstBlock: bigint, lastBlock: bigint) =>
  readRows<Recorded>(db, {
    text: `SELECT d.transaction, d.ordinal, d.block_number, d.partner_id, d.units,
                  d.state <> 'credited' OR coalesce(e.micro_usdt = s.total, false) AS is_in_ledger
             FROM deposits d
             LEFT JOIN (SELECT partner_id, credit_reference, sum(micro_usdt) AS total FROM deposits
                         WHERE chain = $1 AND state = 'credited' GROUP BY 1, 2) AS s USING (partner_id, credit_reference)
             LEFT JOIN (SELECT partner_id, mode, reference, micro_usdt FROM entries UNION ALL
                        SELECT partner_id, mode, reference, micro_usdt FROM archived_references) AS e
               ON e.reference = d.credit_reference AND e.partner_id = d.partner_id AND e.mode = 'live'
            WHERE d.chain = $1 AND d.block_number BETWEEN $2 AND $3 AND d.final_at IS NOT NULL`,
    values: [chain, firstBlock, lastBlock],
  });

const keyOf = (transaction: string, ordinal: number, partnerId: Id<'prt'>) =>
  `${transaction} ${ordinal} ${partnerId}`;

function compare(
  transfers: Transfer[],
  accounts: ReadonlyMap<string, Id<'prt'>>,
  recorded: Recorded[],
): DepositDifference[] {
  const missing = new Map(
    transfers.map(({ transaction, ordinal, account, units }) => {
      const partnerId = accounts.get(account)!;
      return [keyOf(transaction, ordinal, partnerId), { transaction, ordinal, partnerId, chainUnits: units }];
    }),
  );
  const differences: DepositDifference[] = [];
  for (const { transaction, ordinal, partner_id, units, is_in_ledger } of recorded) {
    const partnerId = idFromUuid('prt', partner_id);
    const key = keyOf(transaction, ordinal, partnerId);
    const chainUnits = missing.get(key)?.chainUnits ?? null;
    missing.delete(key);
    const recordedUnits = BigInt(units);
    const found = { transaction, ordinal, partnerId, recordedUnits, chainUnits };
    if (chainUnits === null) differences.push({ kind: 'not_on_chain', ...found });
    else if (chainUnits !== recordedUnits) differences.push({ kind: 'differs', ...found });
    else if (!is_in_ledger) differences.push({ kind: 'not_in_ledger', ...found });
  }
  for (const found of missing.values())
    differences.push({ kind: 'not_on_record', ...found, recordedUnits: null });
  return differences;
}
