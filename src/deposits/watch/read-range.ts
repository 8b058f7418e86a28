import { setImmediate } from 'node:timers/promises';
import { amountOf } from '../amount.ts';
import type { DepositChain } from '../chain/deposit-chain.ts';
import type { ChainBlock, ChainNode, TransferLog } from '../chain/node.ts';
import { NodeError } from '../chain/node-error.ts';

/** What two nodes, or one node and itself, do not agree about: nothing of the range is booked. */
export class DisagreementError extends Error {}

/** Nodes limit how many topics a request may have (TRON: 1000). With more accounts all transfers are read. */
const maxAccountTopics = 500;

/** An account that is no partner's, and no one's. */
const nobody = `0x${'6e6f626f6479'.padStart(40, '0')}`;

export interface Range {
  fromBlock: bigint;
  toBlock: bigint;
}

/**
 * A transfer to one of our accounts. The ordinal is its place among the transfers of its transaction to this account, in the
 * order of the logs. It is the same whether a node counts logs in the block or in the transaction, in whatever block the
 * transaction comes to lie, and whichever other accounts are watched.
 */
export interface Transfer extends TransferLog {
  ordinal: number;
}

/** What no node can give in one answer. */
export interface Unread {
  blockNumber: bigint;
  account: string;
}

export interface Transfers {
  transfers: Transfer[];
  unread: Unread[];
}

export interface RangeResult extends Transfers {
  end: ChainBlock;
  /** What one node gives and another cannot. */
  unconfirmed: Transfer[];
}

/**
 * The transfers to our accounts in a range of final blocks. Every node is asked for everything, and all must give the same:
 * the last block, and the transfers. Where a node cannot give those of one account in one block, the other has not been
 * contradicted, and not been confirmed either.
 */
export async function readFinalRange(
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  range: Range,
): Promise<RangeResult> {
  const results = await Promise.all(chain.nodes.map(node => readRangeOf(node, chain, accounts, range)));
  const [first, ...others] = results;
  const places = new Set(results.flatMap(({ unread }) => unread.map(blockAndAccount)));
  const isPlaced = (transfer: Transfer) => places.size > 0 && places.has(blockAndAccount(transfer));
  const readByAll = (given: Transfer[]) => given.filter(transfer => !isPlaced(transfer));
  const transfers = readByAll(first!.transfers);
  for (const { end, ...other } of others) {
    if (end.hash !== first!.end.hash || end.atMs !== first!.end.atMs)
      throw new DisagreementError(`the nodes have different blocks ${range.toBlock}`);
    if (!areSame(readByAll(other.transfers), transfers))
      throw new DisagreementError(
        `the nodes have different transfers in the blocks ${range.fromBlock} to ${range.toBlock}`,
      );
  }
  return {
    end: first!.end,
    transfers,
    unconfirmed: results.flatMap(result => result.transfers.filter(isPlaced)),
    unread: first!.unread.filter(one =>
      others.every(({ unread }) => unread.some(two => blockAndAccount(two) === blockAndAccount(one))),
    ),
  };
}

const blockAndAccount = ({ blockNumber, account }: Unread) => `${blockNumber} ${account}`;

/**
 * Blocks are read after the logs: one that was replaced in between does not match its logs. The last block is read before
 * them too: a block without transfers may have been replaced by one that has some. A node may have an index of
 * logs beside its blocks, so it is asked a second time, for the logs of each block by its hash. It is not asked for
 * receipts: anybody can make one of any size.
 */
async function readRangeOf(
  node: ChainNode,
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  range: Range,
): Promise<Transfers & { end: ChainBlock }> {
  const { hash } = await node.block(range.toBlock);
  const { transfers, unread } = await readTransfers(node, chain, accounts, range);
  for (const [blockNumber, given] of Map.groupBy(transfers, transfer => transfer.blockNumber)) {
    const { hash: blockHash } = await node.block(blockNumber);
    if (given.some(transfer => transfer.blockHash !== blockHash))
      throw new DisagreementError(
        `the ${node.label} has a transfer of a block ${blockNumber} that is not its own`,
      );
    const question = { accounts: new Set(given.map(({ account }) => account)), blockNumber, blockHash };
    const { transfers: again } = await readBlock(node, chain, question);
    if (!areSame(again, given))
      throw new DisagreementError(
        `the ${node.label} has two different lists of transfers of the block ${blockNumber}`,
      );
  }
  const end = await node.block(range.toBlock);
  if (end.hash !== hash)
    throw new DisagreementError(`the ${node.label} has replaced the block ${range.toBlock} meanwhile`);
  return { end, transfers, unread };
}

/** Whatever the node was asked for, only transfers of the contract to our accounts in the range count. */
export async function readTransfers(
  node: ChainNode,
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  { fromBlock, toBlock }: Range,
): Promise<Transfers> {
  if (accounts.size === 0) return { transfers: [], unread: [] };
  if (fromBlock === toBlock) return readBlock(node, chain, { accounts, blockNumber: fromBlock });
  const logs = await node.logs({
    contract: chain.contractAccount,
    accounts: accounts.size > maxAccountTopics ? undefined : [...accounts],
    within: { fromBlock, toBlock },
  });
  const isInRange = (log: TransferLog) => log.blockNumber >= fromBlock && log.blockNumber <= toBlock;
  return { transfers: await transfersOf(node, chain, accounts, logs.filter(isInRange)), unread: [] };
}

/** The node may give less. It may also be slow: what takes too long is too much. */
const isRefusal = (error: unknown) =>
  error instanceof NodeError && (error.failure === 'too_large' || error.failure === 'refused');

/** A node that is only slow now and then gives it in one of them: what is left unread waits for people. */
const triesAlone = 5;

interface BlockQuestion {
  /** At least one. */
  accounts: ReadonlySet<string>;
  blockNumber: bigint;
  /** Undefined: the block that has the number now. */
  blockHash?: string;
}

/**
 * The transfers of one block, in as many questions as it takes. It can be filled by anybody who pays for it, and then only
 * the account that they fill it for is left unread.
 */
async function readBlock(
  node: ChainNode,
  chain: DepositChain,
  { accounts, blockNumber, blockHash }: BlockQuestion,
): Promise<Transfers> {
  const within = blockHash === undefined ? { fromBlock: blockNumber, toBlock: blockNumber } : { blockHash };
  const unread: Unread[] = [];

  const ask = (asked: readonly string[] | undefined) =>
    node.logs({ contract: chain.contractAccount, accounts: asked, within });

  async function read(asked: string[] | undefined): Promise<TransferLog[]> {
    try {
      const logs = await ask(asked);
      const wanted = new Set(asked ?? accounts);
      return logs.filter(({ account }) => wanted.has(account));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // A node that refuses this too has another reason than what is in the block.
      await ask([nobody]);
      if (asked?.length === 1) return readAgain(asked[0]!);
      const all = asked ?? [...accounts];
      const half = Math.min(maxAccountTopics, Math.ceil(all.length / 2));
      const logs: TransferLog[] = [];
      for (let first = 0; first < all.length; first += half)
        for (const log of await read(all.slice(first, first + half))) logs.push(log);
      return logs;
    }
  }

  async function readAgain(account: string): Promise<TransferLog[]> {
    for (let tries = 0; tries < triesAlone; tries++)
      try {
        return (await ask([account])).filter(log => log.account === account);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    unread.push({ blockNumber, account });
    return [];
  }

  const logs = await read(accounts.size > maxAccountTopics ? undefined : [...accounts]);
  const ofBlock = logs.filter(log => log.blockNumber === blockNumber);
  return { transfers: await transfersOf(node, chain, accounts, ofBlock), unread };
}

/** After so many transfers others get their turn: a block may be full of them. */
const countedAtOnce = 2_000;

/**
 * In one order for all nodes, however they count logs, and even if they count otherwise in each part of a block: all logs to
 * one account come in one answer. What is worth less than a millionth is left out.
 */
async function transfersOf(
  node: ChainNode,
  { contractAccount, decimals }: DepositChain,
  accounts: ReadonlySet<string>,
  logs: TransferLog[],
): Promise<Transfer[]> {
  const counted = logs.filter(
    log =>
      log.contract === contractAccount &&
      accounts.has(log.account) &&
      amountOf(log.units, decimals).microUsdt > 0n,
  );
  refuseMoved(node, counted);
  const transfers: Transfer[] = [];
  let yieldedAt = 0;
  for (const ofBlock of groupsOf(counted, log => log.blockNumber))
    for (const ofAccount of groupsOf(ofBlock, log => log.account)) {
      transfers.push(...withOrdinals(node, ofAccount));
      if (transfers.length - yieldedAt < countedAtOnce) continue;
      yieldedAt = transfers.length;
      await setImmediate();
    }
  return transfers;
}

const groupsOf = <Key extends string | bigint>(logs: TransferLog[], keyOf: (log: TransferLog) => Key) =>
  [...Map.groupBy(logs, keyOf)].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);

/** The logs of one block to one account. One that is given twice would be two deposits. */
function withOrdinals({ label }: ChainNode, logs: TransferLog[]): Transfer[] {
  const transfers: Transfer[] = [];
  for (const log of logs.sort(byPlace)) {
    const before = transfers.at(-1);
    const isFirst = before?.transaction !== log.transaction;
    if (!isFirst && before.logIndex === log.logIndex)
      throw new DisagreementError(`the ${label} has a log of ${log.transaction} twice`);
    transfers.push({ ...log, ordinal: isFirst ? 0 : before.ordinal + 1 });
  }
  return transfers;
}

const byPlace = (one: TransferLog, other: TransferLog) =>
  one.transaction === other.transaction
    ? one.logIndex - other.logIndex
    : one.transaction < other.transaction
      ? -1
      : 1;

function refuseMoved({ label }: ChainNode, logs: TransferLog[]): void {
  const blocks = new Map<string, bigint>();
  for (const { transaction, blockNumber } of logs) {
    if ((blocks.get(transaction) ?? blockNumber) !== blockNumber)
      throw new DisagreementError(`the ${label} has the transaction ${transaction} in two blocks`);
    blocks.set(transaction, blockNumber);
  }
}

const isSame = (one: Transfer, other: Transfer) =>
  one.transaction === other.transaction &&
  one.account === other.account &&
  one.ordinal === other.ordinal &&
  one.units === other.units &&
  one.blockHash === other.blockHash &&
  one.sender === other.sender;

const areSame = (some: Transfer[], others: Transfer[]) =>
  some.length === others.length && some.every((one, nth) => isSame(one, others[nth]!));
