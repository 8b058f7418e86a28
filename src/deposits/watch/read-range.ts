import type { DepositChain } from '../chain/deposit-chain.ts';
import type { ChainBlock, ChainNode, TransferLog } from '../chain/node.ts';

/** What two nodes, or one node and itself, do not agree about: nothing of the range is booked. */
export class DisagreementError extends Error {}

/** Nodes limit how many topics a request may have (TRON: 1000). With more accounts all transfers are read. */
const maxAccountTopics = 500;

export interface Range {
  fromBlock: bigint;
  toBlock: bigint;
}

export interface RangeResult {
  end: ChainBlock;
  transfers: TransferLog[];
}

/**
 * The transfers to our accounts in a range of final blocks. Every node is asked for everything, and all must give the same:
 * the hash of the last block, the logs, and for each log a successful receipt in a block of the chain.
 */
export async function readFinalRange(
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  range: Range,
): Promise<RangeResult> {
  const [first, ...others] = await Promise.all(
    chain.nodes.map(node => readRangeOf(node, chain, accounts, range)),
  );
  for (const other of others) {
    if (other.end.hash !== first!.end.hash)
      throw new DisagreementError(`the nodes have different blocks ${range.toBlock}`);
    if (describeAll(other.transfers) !== describeAll(first!.transfers))
      throw new DisagreementError(
        `the nodes have different transfers in the blocks ${range.fromBlock} to ${range.toBlock}`,
      );
  }
  return first!;
}

/**
 * The blocks are read after the logs: a block that was replaced in between does not match its logs. A node may have an index
 * of logs beside its receipts, so both must say the same.
 */
async function readRangeOf(
  node: ChainNode,
  chain: DepositChain,
  accounts: ReadonlySet<string>,
  range: Range,
): Promise<RangeResult> {
  const transfers = await readTransfers(node, chain, accounts, range);
  const blockOf = askOnce((number: bigint) => node.block(number));
  const receiptOf = askOnce((hash: string) => node.receipt(hash));
  for (const { blockNumber, blockHash } of transfers) {
    const block = await blockOf(blockNumber);
    if (block.hash !== blockHash)
      throw new DisagreementError(
        `the ${node.label} has a transfer of a block ${blockNumber} that is not its own`,
      );
  }
  for (const transfer of transfers) {
    const receipt = await receiptOf(transfer.transaction);
    const isInReceipt = receipt.transfers.some(other => describe(other) === describe(transfer));
    if (!receipt.isSuccess || !isInReceipt)
      throw new DisagreementError(
        `the ${node.label} has a transfer that its receipt ${transfer.transaction} does not have`,
      );
  }
  return { end: await node.block(range.toBlock), transfers };
}

/** A payout to many partners is one transaction of one block. */
function askOnce<Key, Value>(ask: (key: Key) => Promise<Value>): (key: Key) => Promise<Value> {
  const asked = new Map<Key, Promise<Value>>();
  return key => {
    const known = asked.get(key) ?? ask(key);
    asked.set(key, known);
    return known;
  };
}

/** Whatever the node was asked for, only transfers of the contract to our accounts in the range count. */
export async function readTransfers(
  node: ChainNode,
  { contractAccount }: DepositChain,
  accounts: ReadonlySet<string>,
  range: Range,
): Promise<TransferLog[]> {
  if (accounts.size === 0) return [];
  const logs = await node.logs({
    ...range,
    contract: contractAccount,
    accounts: accounts.size > maxAccountTopics ? undefined : [...accounts],
  });
  return logs
    .filter(
      log =>
        log.contract === contractAccount &&
        accounts.has(log.account) &&
        log.units > 0n &&
        log.blockNumber >= range.fromBlock &&
        log.blockNumber <= range.toBlock,
    )
    .sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
}

const describe = (log: TransferLog) =>
  [log.contract, log.blockHash, log.transaction, log.logIndex, log.sender, log.account, log.units].join(' ');

const describeAll = (transfers: TransferLog[]) => transfers.map(describe).join('\n');
